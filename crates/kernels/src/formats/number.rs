//! Decimal numbers from bytes, rounded as Python's `float` rounds them.

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The number at the start of `text` and how many bytes it took; `None` for what is not plain and short.
///
/// A mantissa of at most 2^53 and a power of ten of at most 22 are exact doubles, so that one multiplication or
/// division rounds once and right (Clinger 1990, "How to read floating point numbers accurately").
/// Everything else is left to [`parse`], which is as exact and slower.
#[inline]
pub fn plain(text: &[u8]) -> Option<(f64, usize)> {
    let mut at = 0;
    let negative = match text.first() {
        Some(b'-') => {
            at = 1;
            true
        }
        Some(b'+') => {
            at = 1;
            false
        }
        _ => false,
    };
    let (mut mantissa, mut digits, mut scale) = (0_u64, 0_usize, 0_i32);
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
        at += 1;
    }
    if text.get(at) == Some(&b'.') {
        at += 1;
        let whole = digits;
        while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
            at += 1;
        }
        // More digits than 19 are refused below, so the cast is exact where it counts.
        scale = -((digits - whole).min(64) as i32);
    }
    if digits == 0 || digits > 19 {
        return None;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let (power, length) = exponent(&text[at + 1..])?;
        scale += power;
        at += 1 + length;
    }
    if mantissa > 1 << 53 {
        return None;
    }
    let size = POWERS.get(scale.unsigned_abs() as usize)?;
    let value = if scale < 0 { mantissa as f64 / size } else { mantissa as f64 * size };
    Some((if negative { -value } else { value }, at))
}

fn exponent(text: &[u8]) -> Option<(i32, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let digits = text[sign..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits == 4 {
        return None;
    }
    let size = text[sign..sign + digits].iter().fold(0, |sum, byte| 10 * sum + i32::from(byte - b'0'));
    Some((if text[0] == b'-' { -size } else { size }, sign + digits))
}

/// The number that all of `token` spells, as Python's `float` reads it (without underscores or space).
pub fn parse(token: &[u8]) -> Option<f64> {
    if let Some((value, length)) = plain(token)
        && length == token.len()
    {
        return Some(value);
    }
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// The shortest decimal that reads back as `value`, as bytes.
pub fn write(value: f64, out: &mut Vec<u8>) {
    use std::io::Write;
    // Writing to a vector cannot fail.
    let _ = if value == value.trunc() && value.abs() < 1e15 && (value != 0.0 || value.is_sign_positive()) {
        write!(out, "{}", value as i64)
    } else {
        write!(out, "{value:?}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_agrees_with_the_standard_library_to_the_bit() {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digits = (state >> 20) % 10_u64.pow((state >> 60) as u32 + 1);
            let text = match state % 4 {
                0 => format!("{digits}.{}", state >> 44),
                1 => format!("-0.{digits:07}"),
                2 => format!("{digits}e-{}", (state >> 8) % 30),
                _ => format!("+{digits}.5E{}", (state >> 8) % 30),
            };
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse(text.as_bytes()).unwrap().to_bits(), expected.to_bits(), "{text}");
        }
    }

    #[test]
    fn what_python_reads_is_read_and_what_it_refuses_is_refused() {
        for (text, value) in
            [("5.", 5.0), (".5", 0.5), ("-0", -0.0), ("1e400", f64::INFINITY), ("inf", f64::INFINITY)]
        {
            assert_eq!(parse(text.as_bytes()).map(f64::to_bits), Some(value.to_bits()), "{text}");
        }
        assert!(parse(b"nan").unwrap().is_nan());
        for text in ["", ".", "-", "e5", "1e", "1e+", "1 ", "0x1", "1.2.3", "--1", "\u{661}", "1,5"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn written_numbers_read_back_the_same() {
        for value in
            [0.0, -0.0, 1.0, -3.0, 0.1, 1e300, -2.5e-310, 1e15, 123_456_789.25, f64::MAX, f64::INFINITY]
        {
            let mut text = Vec::new();
            write(value, &mut text);
            assert_eq!(parse(&text).unwrap().to_bits(), value.to_bits(), "{value}");
        }
    }
}
