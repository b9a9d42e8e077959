//! Tests of the loader: hostile, in the making.
