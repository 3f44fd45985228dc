//! Automated testing of the compiler against exact mathematics.
