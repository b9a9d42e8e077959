//! Tests of function_length.
