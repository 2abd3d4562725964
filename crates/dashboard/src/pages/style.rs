//! The style of the dashboard: its colours, type, controls and their states, for those who change it.

use docent_types::Timestamp;
use docent_web::Response;
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::{Icon, Tone, badge};
use crate::layout::{Section, mark};
use crate::pages::analytics::meter;
use crate::parts::{Column, FormProblem, empty, field, notice, table};
use crate::timeline::{Lane, Spans, timeline};

/// The colours by what they mean, the ground behind them first where they have one.
const COLOURS: [(&str, &[&str]); 7] = [
    ("Ground and text", &["ground", "raised", "sunken", "line", "edge", "soft", "text"]),
    ("What can be pressed", &["accent-ground", "accent", "accent-strong"]),
    ("Running", &["running-ground", "running"]),
    ("Waiting", &["waiting-ground", "waiting"]),
    ("Done or open", &["done-ground", "done"]),
    ("Merged", &["merged-ground", "merged"]),
    ("Failed, closed", &["failed-ground", "failed", "closed-ground", "closed"]),
];
const SPACES: [&str; 7] = ["space-1", "space-2", "space-3", "space-4", "space-5", "space-6", "space-7"];
const SIZES: [(&str, &str); 5] = [
    ("text-xxl", "figures"),
    ("text-xl", "the title of a page"),
    ("text-l", "the heading of a part"),
    ("text-m", "text"),
    ("text-s", "small print"),
];

pub(crate) fn style(request: &AuthorizedRequest<'_>) -> Response {
    let body = html! {
        p { "What pages are made of. Colours are named after what they mean, and a state is never told by its colour alone." }
        h2 { "Mark" }
        p { (mark()) " One colour; it is drawn on a grid of 16 pixels." }
        h2 { "States" }
        p.actions { @for tone in Tone::ALL { (badge(tone, tone.class())) } }
        h2 { "Colours" }
        (table("Colours", &[Column::Title("Meaning"), Column::Text("Tokens")], COLOURS.map(|(meaning, tokens)| vec![html! { (meaning) }, html! { @for token in tokens { (swatch(token)) } }])))
        h2 { "Icons" }
        p.actions { @for icon in Icon::ALL { span.small.soft { (icon) " " (icon.name()) } } }
        h2 { "Type" }
        (table("Type", &[Column::Title("Size"), Column::Text("For")], SIZES.map(|(name, what)| vec![html! { code { (name) } }, html! { (sample(name, what)) }])))
        h2 { "Space" }
        ul.plain { @for name in SPACES { li { (space(name)) " " code { (name) } } } }
        h2 { "Buttons" }
        (buttons())
        h2 { "Fields" }
        (fields())
        h2 { "Messages" }
        (notice("good", &html! { p { "Something was done." } }))
        (notice("note", &html! { p { "Something to know before going on." } }))
        (notice("bad", &html! { p { "Something failed, and what to do about it." } }))
        (notice("", &html! { p { "An explanation." } }))
        h2 { "Nothing here" }
        (empty(Icon::Jobs, "What would be here", "A sentence that says what begins it.", Some(("#main", "The one button"))))
        h2 { "Figures" }
        ul.tiles { li { b { "1,204" } a href="#main" { "a number that leads to its rows" } } li { b { "98 %" } span { "a number alone" } (meter(98, 100, "")) } }
        (times())
    };
    request.page("Style", Section::Style, None, &body)
}

fn swatch(token: &str) -> Markup {
    html! {
        span.token {
            svg.swatch aria-hidden="true" { rect width="100%" height="100%" fill=(format_args!("var(--{token})")) {} }
            code { (token) }
        }
    }
}

/// A word in a size of type. Attributes of pictures, since the policy of the dashboard allows no styles in pages.
fn sample(size: &str, word: &str) -> Markup {
    html! { svg.sample role="img" aria-label=(word) { text y="1.7rem" fill="currentColor" font-size=(format_args!("var(--{size})")) { (word) } } }
}

fn space(name: &str) -> Markup {
    html! { svg.space aria-hidden="true" { rect width=(format_args!("var(--{name})")) height="100%" fill="var(--accent)" {} } }
}

/// Where time went, as the page of a job shows it.
fn times() -> Markup {
    let second = |n: i64| Timestamp::from_millis(n * 1_000);
    let spans = |of: &[(i64, i64)]| {
        let mut spans = Spans::default();
        of.iter().for_each(|(from, to)| spans.add(second(*from), second(*to)));
        spans
    };
    let lanes = [
        ("Waited", "waiting", spans(&[(0, 2)])),
        ("Model", "model", spans(&[(2, 7), (8, 13)])),
        ("Tools", "tools", spans(&[(7, 8)])),
        ("Git", "git", spans(&[(13, 15)])),
    ];
    let lanes = lanes.each_ref().map(|(name, class, spans)| Lane { name, class, spans, note: String::new() });
    timeline("Where 15 s went", second(0), second(15), &lanes)
}

/// Each button in each of its states. Hovered and pressed are classes here, since a page cannot be pressed in a picture.
fn buttons() -> Markup {
    let kinds = [("Primary", ""), ("Secondary", "secondary"), ("Quiet", "quiet"), ("Danger", "danger")];
    html! {
        @for (name, class) in kinds {
            p.actions {
                button class=(class) type="button" { (name) }
                button class=(format_args!("{class} hovered")) type="button" { "Hovered" }
                button class=(format_args!("{class} pressed")) type="button" { "Pressed" }
                button class=(class) type="button" disabled { "Disabled" }
                button class=(class) type="button" aria-busy="true" { "Loading" }
            }
        }
        p.actions { a.button.secondary href="#main" { (Icon::Add) "With an icon" } }
    }
}

fn fields() -> Markup {
    let problem = FormProblem::of("style-wrong", "It says what is wrong, and what to write instead.");
    html! {
        div.cards {
            (field("style-field", "A field", "What to write here.", None, |tie| html! { input #style-field aria-describedby=[tie.described.as_deref()] placeholder="An example"; }))
            (field("style-off", "A choice that is not offered", "", None, |_| html! { select #style-off disabled { option { "The only one" } } }))
            (field("style-hovered", "A field under the pointer", "", None, |_| html! { input.hovered #style-hovered value="what is there"; }))
            (field("style-wrong", "A field with a mistake", "", Some(&problem), |tie| html! { input #style-wrong value="what was typed" aria-invalid=[tie.invalid()] aria-describedby=[tie.described.as_deref()]; }))
        }
    }
}
