//! Tests of siblings.
