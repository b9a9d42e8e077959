//! Tests of the loader: providers, in the making.
