//! Tests of foreign_paths.
