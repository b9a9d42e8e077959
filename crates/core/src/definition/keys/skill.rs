//! The keys of a skill's `SKILL.md`.

keys! { Skill:
    Here "name", "text", "required", "name: house-style", "What the skill is called: as its folder.";
    Here "description", "text", "required", "description: How this house writes.", "When to use it.";
    Here "license", "text", "none", "license: MIT", "Its licence.";
    Here "compatibility", "text", "none", "compatibility: needs git", "What it needs, in up to 500 characters.";
    Here "metadata", "map of texts", "`{}`", "metadata: {author: me}", "Notes of its author.";
    Here "allowed-tools", "text", "none", "allowed-tools: Read Grep", "Tools that it names; it is given none by that.";
}
