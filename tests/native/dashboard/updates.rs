//! Tests the pages of updates.

use super::prices::assert_has;
use super::usage::rows;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, dashboard, field, form_with};
use serde_json::json;
use support::service::{Answer, LIVE_UNIT, minimal, seeded};

const PAGE: &str = "/updates?mode=live&month=2026-01";

/// Returns a dashboard of a service with one transaction: 12 trees, pledged in January.
fn pledged() -> TestDashboard {
    let dashboard = dashboard(seeded());
    let mut order = minimal();
    order["pledges"] = json!([{ "impact": { "amount": 12, "offeringId": "tree" } }]);
    dashboard.service.create(LIVE_UNIT, &order);
    dashboard.reconcile();
    dashboard
}

/// Sends the form that adds an update, with some fields changed.
fn add(dashboard: &TestDashboard, changed: &[(&str, &str)]) -> Answer {
    fill_in(dashboard, "/updates", changed)
}

/// Sends the form that adds an update to this path.
fn fill_in(dashboard: &TestDashboard, path: &str, changed: &[(&str, &str)]) -> Answer {
    let page = dashboard.get(OPERATOR, PAGE);
    let (_, section) = page.text.split_once("id=\"add\"").unwrap();
    let hidden = ["mode", "month", "operation"].map(|name| (name, field(section, name)));
    let hidden = hidden.iter().map(|(name, value)| (*name, &**value));
    let given = [
        ("offering", "tree"),
        ("stage", "done"),
        ("date", "2026-01-20"),
        ("place", "Kitui"),
        ("text-en", "We <planted> them."),
        ("text-de", ""),
    ];
    let kept = given.into_iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
    let fields: Vec<_> = hidden.chain(kept).chain(changed.iter().copied()).collect();
    dashboard.post(OPERATOR, path, &fields)
}

/// Adds a draft with some fields changed. Returns the path of its page.
fn drafted(dashboard: &TestDashboard, changed: &[(&str, &str)]) -> String {
    let page = add(dashboard, changed);
    assert_has(&page, 200, &["The draft was saved"]);
    format!("/updates/{}", id_of(&page))
}

/// Returns the ID of the update that a page shows.
fn id_of(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("upd_").expect("an update");
    ["upd_", &rest[..20]].concat()
}

/// Finds the form with this action on a page, and sends it. `more` contains further fields.
fn send(dashboard: &TestDashboard, page: &Answer, action: &str, more: &[(&str, &str)]) -> Answer {
    let (_, own) = form_with(page, &format!(" action=\"{action}\""));
    let fields = own.iter().map(|(name, value)| (&**name, &**value)).chain(more.iter().copied());
    dashboard.post(OPERATOR, action, &fields.collect::<Vec<_>>())
}

#[test]
fn an_update_is_drafted_previewed_published_edited_and_withdrawn() {
    let dashboard = pledged();
    let page = dashboard.get(OPERATOR, PAGE);
    assert_has(&page, 200, &["No updates for this month yet", "<option value=\"tree\">", "70 s"]);

    let path = drafted(&dashboard, &[]);
    let page = dashboard.get(OPERATOR, &path);
    assert_has(&page, 200, &["Draft: buyers do not see it", "Preview (en)"]);
    let names = dashboard.store().names();
    assert!(!names.iter().any(|name| name.starts_with("updates:")));

    let preview = dashboard.get(OPERATOR, &format!("{path}/preview?language=en"));
    assert_has(&preview, 200, &["We &lt;planted&gt; them.", "Kitui", "<html lang=\"en\""]);
    let policy = preview.headers.get("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'"), "{policy}");

    let asked = dashboard.press(OPERATOR, &page, "Publish");
    assert_has(&asked, 200, &["Publish this update?", "70 s", "We &lt;planted&gt; them. (en)"]);
    assert!(!dashboard.store().names().iter().any(|name| name.starts_with("updates:")));
    let published = dashboard.confirm(OPERATOR, &asked);
    assert_has(
        &published,
        200,
        &["was published", "after about 70 s", "Published: timelines show it"],
    );
    let list = dashboard.get(OPERATOR, PAGE);
    assert_eq!(
        rows(&list)[0][..5],
        ["tree", "20 Jan 2026", "Done", "We &lt;planted&gt; them.", "Published"]
    );

    let changed = [("stage", "verified"), ("date", "2026-01-21"), ("text-en", "Counted.")];
    let asked = send(&dashboard, &published, &path, &changed);
    assert_has(&asked, 200, &["Change what buyers see?", "value=\"Counted.\""]);
    assert_eq!(rows(&dashboard.get(OPERATOR, PAGE))[0][2], "Done", "nothing was changed");
    let edited = dashboard.confirm(OPERATOR, &asked);
    assert_has(&edited, 200, &["The update was saved", "Update: Verified", "value=\"Counted.\""]);

    let asked = dashboard.press(OPERATOR, &edited, "Withdraw");
    assert_has(
        &asked,
        200,
        &["Withdraw this update?", "Nothing was changed yet", "70 s", "Counted."],
    );
    let withdrawn = dashboard.confirm(OPERATOR, &asked);
    assert_has(&withdrawn, 200, &["was withdrawn", "Withdrawn: timelines do not show it"]);
    let again = dashboard.confirm(OPERATOR, &asked);
    assert_has(&again, 200, &["The form was sent twice"]);
    assert!(!dashboard.store().names().iter().any(|name| name.starts_with("updates:")));
    let log = dashboard.get(OPERATOR, "/audit");
    assert_has(&log, 200, &["drafted an update", "published an update", "withdrew an update"]);
    assert!(!log.text.contains("them.."), "{}", log.text);
}

#[test]
fn a_refused_form_says_why_at_its_field_and_keeps_what_was_typed() {
    let dashboard = pledged();
    for (name, value, wrong) in [
        ("offering", "", "offering"),
        ("date", "2027-01-01", "date"),
        ("quantity", "many", "quantity"),
        ("latitude", "91", "longitude"),
        ("longitude", "38", "latitude"),
        ("place", "a\u{202e}b", "place"),
        ("partner", "\u{200b}", "partner"),
        ("picture", "javascript:alert(1)", "picture"),
        ("picture-text", "Seedlings", "picture"),
        ("report", "http://example.org", "report"),
        ("text-de", "a\u{202e}b", "text-de"),
        ("text-pt-BR", "a\u{2066}b", "text-pt-BR"),
    ] {
        let page = add(&dashboard, &[(name, value)]);
        assert_has(
            &page,
            422,
            &[&format!("id=\"{wrong}-problem\""), &format!("href=\"#{wrong}\""), "role=\"alert\""],
        );
        assert!(page.text.contains(&format!("value=\"{value}\"")), "{name} is kept");
    }
    assert_has(&dashboard.get(OPERATOR, PAGE), 200, &["No updates for this month yet"]);
    let incomplete = dashboard.post(OPERATOR, "/updates", &[("stage", "done")]);
    assert_has(&incomplete, 422, &["Some fields are missing"]);
}

#[test]
fn a_preview_of_a_form_saves_nothing() {
    let dashboard = pledged();
    let names = dashboard.store().names();
    let of_new = |changed: &[(&str, &str)]| fill_in(&dashboard, "/updates/preview", changed);
    assert_has(&of_new(&[]), 200, &["<html lang=\"en\"", "We &lt;planted&gt; them."]);
    let german = of_new(&[("text-en", ""), ("text-de", "Gepflanzt.")]);
    assert_has(&german, 200, &["Gepflanzt."]);
    assert_eq!(of_new(&[("date", "never")]).status, 422);
    assert_eq!(dashboard.store().names(), names);
    assert_has(&dashboard.get(OPERATOR, PAGE), 200, &["No updates for this month yet"]);

    let path = drafted(&dashboard, &[]);
    let page = dashboard.get(OPERATOR, &path);
    assert_has(&page, 200, &[&format!("formaction=\"{path}/preview\"")]);
    let (_, hidden) = form_with(&page, "formaction");
    let changed = [("stage", "done"), ("date", "2026-01-20"), ("text-en", "Not saved.")];
    let hidden = hidden.iter().map(|(name, value)| (&**name, &**value));
    let fields: Vec<_> = hidden.chain(changed).collect();
    let preview = dashboard.post(OPERATOR, &format!("{path}/preview"), &fields);
    assert_has(&preview, 200, &["Not saved."]);
    assert!(!dashboard.get(OPERATOR, &path).text.contains("Not saved."));
    assert_eq!(dashboard.get(OPERATOR, &format!("{path}/preview?language=xx")).status, 422);
}

#[test]
fn a_draft_without_a_sentence_and_an_outdated_form_are_refused_on_their_page() {
    let dashboard = pledged();
    let path = drafted(&dashboard, &[("text-en", "")]);
    let page = dashboard.get(OPERATOR, &path);
    let publish = |page: &Answer| dashboard.press(OPERATOR, page, "Publish");
    let refused = publish(&page);
    assert_has(&refused, 422, &["write its sentence in at least one language"]);
    assert_has(&refused, 422, &["href=\"#text-en\">Go to the field", "id=\"text-en\""]);
    let changed = [("stage", "done"), ("date", "2026-01-20"), ("text-en", "Now.")];
    assert_has(&send(&dashboard, &page, &path, &changed), 200, &["The update was saved"]);
    let late = send(&dashboard, &page, &path, &changed);
    assert_has(&late, 200, &["The form was sent twice"]);
    assert_has(&publish(&page), 422, &["after you had opened it"]);
    assert_eq!(dashboard.get(OPERATOR, "/updates/upd_none").status, 422);
}

#[test]
fn what_was_done_becomes_a_draft_by_one_click() {
    let dashboard = pledged();
    let page = dashboard.get(OPERATOR, "/fulfilment?mode=live&month=2026-01");
    let (_, section) = page.text.split_once("id=\"record\"").unwrap();
    let operation = field(section, "operation");
    let fields = [
        ("mode", "live"),
        ("month", "2026-01"),
        ("operation", &operation),
        ("offering", "tree"),
        ("quantity", "5"),
        ("done-on", "2026-01-20"),
        ("partner", "Reforest"),
        ("report", "https://example.org/r"),
    ];
    let recorded = dashboard.post(OPERATOR, "/fulfilment", &fields);
    let draft = send(&dashboard, &recorded, "/fulfilment/update", &[]);
    assert_has(&draft, 200, &["The draft was saved"]);
    let path = format!("/updates/{}", id_of(&draft));
    let expected = [
        "Draft: buyers do not see it",
        "value=\"Reforest\"",
        "value=\"5\"",
        "value=\"https://example.org/r\"",
    ];
    assert_has(&dashboard.get(OPERATOR, &path), 200, &expected);
    let again = send(&dashboard, &recorded, "/fulfilment/update", &[]);
    assert_has(&again, 200, &["The form was sent twice"]);
    let fulfilment = field(&recorded.text, "fulfilment");
    let named = [("fulfilment", &*fulfilment), ("mode", "live"), ("month", "2026-01")];
    let again = dashboard.post_new(OPERATOR, "/fulfilment/update", &named);
    assert_has(&again, 422, &["already has an update"]);
    let page = dashboard.get(OPERATOR, "/fulfilment?month=2026-01");
    assert_has(&page, 200, &[&format!("<a href=\"{path}\">Update</a>")]);
    dashboard.post_confirmed(OPERATOR, "/fulfilment/remove", &named);
    let page = dashboard.get(OPERATOR, &path);
    assert_has(
        &page,
        200,
        &["drafted from a fulfilment that", "Check whether the update is still right"],
    );
}

#[test]
fn workers_kv_that_fails_is_said_and_the_menu_is_for_operators() {
    let dashboard = pledged();
    let path = drafted(&dashboard, &[]);
    dashboard.store().set_failing(Some("updates:"));
    let published = dashboard.post_confirmed(OPERATOR, &format!("{path}/publish"), &[]);
    assert_has(&published, 200, &["was published", "Workers KV did not accept the record"]);
    assert_has(
        &dashboard.get(OPERATOR, PAGE),
        200,
        &["Workers KV has not accepted the last change of"],
    );
    assert!(dashboard.get(OPERATOR, "/").text.contains("href=\"/updates\""));
    for person in [ACCOUNTS, SUPPORT] {
        assert_eq!(dashboard.get(person, PAGE).status, 403);
        assert!(!dashboard.get(person, "/").text.contains("href=\"/updates\""));
    }
    let recorded = dashboard.get(ACCOUNTS, "/fulfilment?month=2026-01");
    assert!(!recorded.text.contains("/fulfilment/update"));
}

#[test]
fn a_quantity_beyond_what_was_done_is_a_warning_before_buyers_see_it() {
    let dashboard = pledged();
    let path = drafted(&dashboard, &[("quantity", "12")]);
    let publish = format!("{path}/publish");
    let warning = "12 of tree is done for the pledges of 2026-01, but 0 is recorded as done";
    assert_has(&dashboard.post_new(OPERATOR, &publish, &[]), 200, &[warning]);
    let done = [
        ("mode", "live"),
        ("month", "2026-01"),
        ("offering", "tree"),
        ("quantity", "12"),
        ("done-on", "2026-01-20"),
    ];
    assert_has(&dashboard.post_new(OPERATOR, "/fulfilment", &done), 200, &["recorded as done"]);
    let asked = dashboard.post_new(OPERATOR, &publish, &[]);
    assert_has(&asked, 200, &["Publish this update?"]);
    assert!(!asked.text.contains("recorded as done"));
    dashboard.confirm(OPERATOR, &asked);

    let edit = |quantity, stage| {
        let fields =
            [("revision", "2"), ("quantity", quantity), ("stage", stage), ("text-en", "X")];
        let asked = dashboard.post_new(OPERATOR, &path, &fields);
        assert_has(&asked, 200, &["Change what buyers see?"]);
        asked.text.contains("12.5 of tree is done for the pledges of 2026-01, but 12 is recorded")
    };
    assert_eq!(
        [edit("12.5", "done"), edit("12", "done"), edit("12.5", "under-way")],
        [true, false, false]
    );
}
