//! Tests of file_length.
