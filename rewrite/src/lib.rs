//! Normalization of EIN operators by equality saturation.
