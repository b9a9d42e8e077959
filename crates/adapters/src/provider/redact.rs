//! Every error text of a provider goes through [`redact`] before it leaves this module's family: providers' messages quote
//! keys, HTTP libraries quote whole addresses. What counts as a secret is the runtime's.

pub use deputize_runtime::secret::{LONGEST, line as redact};
