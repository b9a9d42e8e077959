//! Tests of nesting.
