//! Tests of header.
