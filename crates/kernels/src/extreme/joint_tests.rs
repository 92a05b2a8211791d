use super::*;

/// Two colors times two animals, as features of rows and of labels.
fn rows() -> (Vec<usize>, Vec<i32>, Vec<f32>) {
    (vec![0, 2, 4, 6, 8], vec![0, 2, 0, 3, 1, 2, 1, 3], vec![1.0; 8])
}

/// Three colors times three animals; the last of the nine labels is not learned from.
fn grid() -> (Vec<usize>, Vec<i32>, Vec<f32>) {
    let columns: Vec<i32> = (0..9).flat_map(|y| [y / 3, 3 + y % 3]).collect();
    ((0..=18).step_by(2).collect(), columns, vec![1.0; 18])
}

fn fit(rule: Rule, hashed: bool) -> (Vec<[f32; 2]>, u64) {
    let (starts, columns, values) = grid();
    let phi = Csr::new(&starts, &columns, &values, 6).unwrap();
    let x = Csr::new(&starts[..9], &columns[..16], &values[..16], 6).unwrap();
    let y = [0, 1, 2, 3, 4, 5, 6, 7];
    let data = JointData { x: &x, y: &y, phi: &phi, starts: &[], rivals: &[], n_trained: 8 };
    let order: Vec<u32> = (0..400).map(|i| i * 3 % 8).collect();
    let mut weights = vec![[0.0; 2]; if hashed { 1024 } else { 36 }];
    let plan = JointPlan { rule, rate: 0.5, decay: 0.0, n_sampled: 6, seed: 1 };
    let mut seen = 0;
    learn(&data, &order, plan, hashed, &mut weights, &mut seen, &Interrupt::new()).unwrap();
    (weights, seen)
}

#[test]
fn every_rule_finds_a_label_that_it_never_saw() {
    let (starts, columns, values) = grid();
    let rows = Csr::new(&starts, &columns, &values, 6).unwrap();
    for rule in [Rule::Perceptron, Rule::Mira, Rule::Svm, Rule::Softmax] {
        for hashed in [false, true] {
            let (weights, seen) = fit(rule, hashed);
            let averaged = matches!(rule, Rule::Perceptron | Rule::Mira);
            let final_weight = |w: &[f32; 2]| if averaged { w[0] - w[1] / seen as f32 } else { w[0] };
            let weights: Vec<f32> = weights.iter().map(final_weight).collect();
            let out = rank(&rows, &rows, &weights, hashed, 9, 2, &Interrupt::new()).unwrap();
            let first: Vec<u32> = out.labels.iter().copied().step_by(9).collect();
            assert_eq!(first, [0, 1, 2, 3, 4, 5, 6, 7, 8], "{rule:?} {hashed}");
        }
    }
}

#[test]
fn scores_are_the_sums_of_their_definition() {
    let (starts, columns, values) = rows();
    let rows = Csr::new(&starts, &columns, &values, 4).unwrap();
    let weights: Vec<f32> = (0..16).map(|v| (v * v % 7) as f32).collect();
    let out = rank(&rows, &rows, &weights, false, 4, 1, &Interrupt::new()).unwrap();
    for i in 0..4 {
        let mut total = 0.0;
        for at in 0..4 {
            let y = out.labels[4 * i + at] as usize;
            let mut expected = 0.0;
            for &j in &columns[2 * i..2 * i + 2] {
                for &q in &columns[2 * y..2 * y + 2] {
                    expected += weights[(4 * j + q) as usize];
                }
            }
            assert_eq!(out.scores[4 * i + at], expected);
            total += expected.exp();
        }
        assert!((out.log_sums[i] - total.ln()).abs() < 1e-4);
    }
}

#[test]
fn mira_reaches_a_margin_of_one() {
    let (starts, columns, values) = rows();
    let phi = Csr::new(&starts, &columns, &values, 4).unwrap();
    let x = Csr::new(&[0, 2], &columns[..2], &values[..2], 4).unwrap();
    let data = JointData { x: &x, y: &[0], phi: &phi, starts: &[0, 1], rivals: &[3], n_trained: 4 };
    let mut weights = vec![[0.0; 2]; 16];
    let plan = JointPlan { rule: Rule::Mira, rate: 10.0, decay: 0.0, n_sampled: 0, seed: 1 };
    learn(&data, &[0], plan, false, &mut weights, &mut 0, &Interrupt::new()).unwrap();
    let final_weights: Vec<f32> = weights.iter().map(|w| w[0]).collect();
    let out = rank(&x, &phi, &final_weights, false, 4, 1, &Interrupt::new()).unwrap();
    let at = |y| out.scores[out.labels.iter().position(|&l| l == y).unwrap()];
    assert!((at(0) - at(3) - 1.0).abs() < 1e-6);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (starts, columns, values) = rows();
    let rows = Csr::new(&starts, &columns, &values, 4).unwrap();
    let plan = JointPlan { rule: Rule::Softmax, rate: 0.1, decay: 0.0, n_sampled: 1, seed: 1 };
    let mut weights = vec![[0.0; 2]; 16];
    let stop = Interrupt::new();
    let good = JointData { x: &rows, y: &[0, 1, 2, 3], phi: &rows, starts: &[], rivals: &[], n_trained: 4 };
    assert!(learn(&good, &[4], plan, false, &mut weights, &mut 0, &stop).is_err());
    assert!(learn(&good, &[0], plan, false, &mut weights[..8], &mut 0, &stop).is_err());
    assert!(learn(&good, &[0], plan, true, &mut weights[..12], &mut 0, &stop).is_err());
    for bad in [
        JointData { y: &[0, 1, 2, 4], ..good },
        JointData { y: &[0], ..good },
        JointData { starts: &[0, 1], ..good },
        JointData { rivals: &[4], ..good },
        JointData { rivals: &[-1], ..good },
        JointData { n_trained: 5, ..good },
    ] {
        assert!(learn(&bad, &[0], plan, false, &mut weights, &mut 0, &stop).is_err());
    }
}
