//! EIN: tensor operators in index notation.
