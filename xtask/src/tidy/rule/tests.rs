//! Tests of rule.
