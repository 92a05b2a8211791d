"""Models for other programs: scikit-learn's classes, and ONNX."""
