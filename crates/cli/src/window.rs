//! The context window of models on this machine or in a private network: asked for before the first call, since a server
//! cuts or refuses what does not fit. What a file says wins; what is found is a choice that is said and recorded.

use crate::ambient::Ambient;
use crate::out::one_line;
use crate::wire;
use deputize_adapters::loader::Setup;
use deputize_core::event::Choice;
use deputize_core::id::ModelName;

/// Characters of a reason.
const REASON: usize = 160;

/// Asks for the windows of all models that a run needs.
pub(crate) async fn ask(setup: &mut Setup, ambient: &Ambient) -> Vec<Choice> {
    let mut said = Vec::new();
    for model in wire::used_models(setup) {
        let Some(settings) = setup.providers.get(model.provider()) else { continue };
        let Some(told) = wire::context_window(setup, settings, &model, ambient).await else { continue };
        let limits = setup.team.models.limits(&model);
        let written = limits.context_known.then_some(limits.context);
        let told = match told {
            Ok(told) => told.ok_or_else(|| "its server does not tell".to_string()),
            Err(failure) => Err(one_line(&failure.why, REASON)),
        };
        if let (Ok(tokens), None) = (&told, written) {
            let mut limits = limits;
            (limits.context, limits.context_known) = (*tokens, true);
            setup.team.models.limits.insert(model.clone(), limits);
        }
        said.extend(choice(&model, told, written, limits.context));
    }
    said
}

/// What there is to say of one model: `told` by its server, `written` in a file, else `guess`.
fn choice(model: &ModelName, told: Result<u64, String>, written: Option<u64>, guess: u64) -> Option<Choice> {
    let key = format!("`models: {{\"{model}\": {{context: COUNT}}}}`");
    let (code, text) = match (told, written) {
        (Ok(told), None) => {
            ("model.window", format!("the context window of {model} is {told} tokens: its server says so"))
        }
        (Ok(told), Some(written)) if written > told => (
            "model.window_over",
            format!(
                "warning: the context window of {model} is set to {written} tokens, but its server has {told}: what is \
                 longer is cut or refused there; {key} corrects it"
            ),
        ),
        (Ok(_), Some(_)) | (Err(_), Some(_)) => return None,
        (Err(why), None) => (
            "model.window_guess",
            format!("the context window of {model} is not known ({why}): {guess} tokens are a guess; {key} says it"),
        ),
    };
    Some(Choice { code: code.to_string(), text })
}

#[cfg(test)]
mod tests;
