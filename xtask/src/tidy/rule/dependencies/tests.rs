//! Tests of dependencies.
