//! Tests the forms that upload a picture.

use crate::dashboard::prices::assert_has;
use crate::dashboard::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, dashboard, field, form_with};
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::pledges::http::BodyError;
use impact_pledge::pledges::picture::{PictureFormat, PictureName};
use std::collections::BTreeMap;
use support::pictures::{exif, jpeg, png, segment, vp8, webp};
use support::service::{Answer, TestRequest, seeded};

const PAGE: &str = "/updates?mode=live&month=2026-01";
const ADD: &str = "/updates";
const BOUNDARY: &str = "----WebKitFormBoundary7MA4YWxkTrZu0gW";

/// Returns a dashboard to which a bucket for pictures is bound.
fn with_bucket() -> TestDashboard {
    let mut dashboard = dashboard(seeded());
    dashboard.store().bind_pictures();
    dashboard.settings.has_pictures = true;
    dashboard.settings.service_origin = "https://pledges.example".to_owned();
    dashboard
}

/// A form as a browser sends it, with a file.
fn sent(path: &str, fields: &[(&str, &str)], file: &[u8]) -> TestRequest {
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(
            format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
            .into_bytes(),
        );
    }
    let head = "Content-Disposition: form-data; name=\"picture-file\"; filename=\"a.svg\"\r\nContent-Type: text/html";
    body.extend(format!("--{BOUNDARY}\r\n{head}\r\n\r\n").into_bytes());
    body.extend_from_slice(file);
    body.extend(format!("\r\n--{BOUNDARY}--\r\n").into_bytes());
    TestRequest::new("POST", path, "")
        .with_body(body)
        .with_header("content-type", &format!("multipart/form-data; boundary={BOUNDARY}"))
        .with_header("sec-fetch-site", "same-origin")
}

/// Sends the form that adds an update, with a file.
fn add(dashboard: &TestDashboard, path: &str, changed: &[(&str, &str)], file: &[u8]) -> Answer {
    let request = request(dashboard, path, changed, file);
    dashboard.send(&request, Identity::Address(OPERATOR))
}

fn request(
    dashboard: &TestDashboard,
    path: &str,
    changed: &[(&str, &str)],
    file: &[u8],
) -> TestRequest {
    let page = dashboard.get(OPERATOR, PAGE);
    let (_, section) = page.text.split_once("id=\"add\"").unwrap();
    let hidden = ["mode", "month", "operation"].map(|name| (name, field(section, name)));
    let mut fields: BTreeMap<&str, &str> =
        hidden.iter().map(|(name, value)| (*name, &**value)).collect();
    fields.extend([
        ("offering", "tree"),
        ("stage", "done"),
        ("date", "2026-01-20"),
        ("text-en", "“é”"),
    ]);
    fields.extend([("picture", ""), ("picture-text", "Seedlings")]);
    fields.extend(changed.iter().copied());
    sent(path, &fields.into_iter().collect::<Vec<_>>(), file)
}

#[test]
fn a_picture_is_uploaded_previewed_kept_by_a_question_and_replaced() {
    let dashboard = with_bucket();
    let page = dashboard.get(OPERATOR, PAGE);
    assert_has(
        &page,
        200,
        &[
            "enctype=\"multipart/form-data\"",
            "type=\"file\" id=\"picture-file\" name=\"picture-file\" accept=\"image/jpeg,",
        ],
    );
    let photo = jpeg(40, 30, &[segment(0xe1, &exif(6, true)), segment(0xfe, b"a comment")]);
    let bare = [b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"];
    let plain = jpeg(40, 30, &[segment(0xe1, bare[0])]);
    let path = PictureName::of(&plain, PictureFormat::Jpg).path();
    let shown = format!("<img src=\"https://pledges.example{path}\"");
    assert_has(&add(&dashboard, "/updates/preview", &[], &photo), 200, &[&shown, "“é”"]);
    let draft = add(&dashboard, ADD, &[], &photo);
    assert_has(&draft, 200, &["The draft was saved"]);
    let stored: Vec<_> = dashboard.store().pictures().into_iter().collect();
    assert_eq!(stored, [(path.replace("/pictures/", ""), plain.clone())], "once, without place");

    let (_, rest) = draft.text.split_once("upd_").unwrap();
    let own = format!("/updates/upd_{}", &rest[..20]);
    let page = dashboard.get(OPERATOR, &own);
    assert_has(&page, 200, &[&format!("name=\"picture\" value=\"{path}\"")]);
    assert_has(&dashboard.get(OPERATOR, &format!("{own}/preview")), 200, &[&shown]);
    dashboard.post_confirmed(OPERATOR, &format!("{own}/publish"), &[]);
    let record: Vec<_> =
        dashboard.store().names().into_iter().filter(|it| it.starts_with("updates:")).collect();
    assert!(dashboard.store().value(&record[0]).unwrap().contains(&path));

    let page = dashboard.get(OPERATOR, &own);
    let (_, hidden) = form_with(&page, &format!(" action=\"{own}\""));
    let mut fields: Vec<_> = hidden.iter().map(|(name, value)| (&**name, &**value)).collect();
    fields.extend([("picture", &*path), ("picture-text", "Trees"), ("text-en", "Now.")]);
    let asked = dashboard.send(&sent(&own, &fields, &png(4, 3, &[])), Identity::Address(OPERATOR));
    let other = PictureName::of(&png(4, 3, &[]), PictureFormat::Png).path();
    assert_has(
        &asked,
        200,
        &["Change what buyers see?", &format!("name=\"picture\" value=\"{other}\"")],
    );
    assert_has(&dashboard.confirm(OPERATOR, &asked), 200, &["The update was saved"]);
    assert!(dashboard.store().value(&record[0]).unwrap().contains(&other));

    let fields = [("revision", "3"), ("picture", ""), ("picture-text", "")];
    let without = dashboard.post_confirmed(OPERATOR, &own, &fields);
    assert_has(&without, 200, &["The update was saved"]);
    assert!(!dashboard.store().value(&record[0]).unwrap().contains("/pictures/"));
}

#[test]
fn a_refused_picture_says_why_at_its_field_and_the_texts_are_kept() {
    let dashboard = with_bucket();
    let (html, svg) = (b"<script>alert(1)</script>", b"<svg onload='alert(1)'/>");
    for (what, file, words) in [
        ("HTML", html.to_vec(), "not a JPEG, PNG or WebP"),
        ("SVG", svg.to_vec(), "not a JPEG, PNG or WebP"),
        ("a GIF", b"GIF89a=1//".to_vec(), "not a JPEG, PNG or WebP"),
        ("a bomb", png(100_000, 100_000, &[]), "at most 40 megapixels"),
        ("cut off", png(4, 3, &[])[..40].to_vec(), "cut off or damaged"),
        ("a little too large", vec![0; (5 << 20) + 1], "more than 5 MiB"),
    ] {
        for path in [ADD, "/updates/preview"] {
            let answer = add(&dashboard, path, &[], &file);
            assert_has(&answer, 422, &[words]);
            let is_at_field = answer.text.contains("id=\"picture-file-problem\"")
                && answer.text.contains("value=\"“é”\"")
                && answer.text.contains("value=\"Seedlings\"");
            assert_eq!(is_at_field, path == ADD, "{what}: {}", answer.text);
        }
    }
    dashboard.store().set_failing(Some("/pictures/"));
    let answer = add(&dashboard, ADD, &[], &png(4, 3, &[]));
    assert_has(&answer, 422, &["did not accept the picture", "id=\"picture-file-problem\""]);
    assert!(dashboard.store().pictures().is_empty());
    assert_has(&dashboard.get(OPERATOR, PAGE), 200, &["No updates for this month yet"]);
}

#[test]
fn without_a_bucket_a_form_has_only_the_address() {
    let dashboard = dashboard(seeded());
    let page = dashboard.get(OPERATOR, PAGE);
    assert!(!page.text.contains("multipart") && !page.text.contains("picture-file"));
    let answer = add(&dashboard, ADD, &[], &png(4, 3, &[]));
    assert_has(&answer, 422, &["no bucket is bound as"]);
    let linked = [("picture", "https://example.org/a.png")];
    assert_has(&add(&dashboard, ADD, &linked, b""), 200, &["The draft was saved"]);
}

#[test]
fn nobody_else_uploads_and_no_other_form_does() {
    let dashboard = with_bucket();
    let file = webp(&[(b"VP8 ", &vp8(4, 3))]);
    let request = || request(&dashboard, ADD, &[], &file);
    for person in [ACCOUNTS, SUPPORT, "eve@example.org"] {
        assert_eq!(dashboard.send(&request(), Identity::Address(person)).status, 403, "{person}");
    }
    let other_site = request().with_header("sec-fetch-site", "cross-site");
    assert_eq!(dashboard.send(&other_site, Identity::Address(OPERATOR)).status, 403);
    let elsewhere = sent("/units", &[("unit", "x")], &file);
    assert_eq!(dashboard.send(&elsewhere, Identity::Address(OPERATOR)).status, 415);
    for (body, status) in [
        (Err(BodyError::TooLarge), 413),
        (Err(BodyError::Slow), 400),
        (Err(BodyError::Broken), 400),
        (Err(BodyError::Busy), 503),
        (Ok(b"--other--".to_vec()), 400),
        (request().body.map(|body| body[..body.len() - 20].to_vec()), 400),
    ] {
        let request = TestRequest { body, ..request() };
        assert_eq!(dashboard.send(&request, Identity::Address(OPERATOR)).status, status);
    }
    let no_boundary = request().with_header("content-type", "multipart/form-data");
    assert_eq!(dashboard.send(&no_boundary, Identity::Address(OPERATOR)).status, 400);
    assert!(dashboard.store().pictures().is_empty());
    assert_eq!(dashboard.in_flight.bytes(), 0);
}

#[test]
fn many_parts_cost_linear_time() {
    let dashboard = with_bucket();
    let field = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n");
    let body = [field.repeat(60_000), format!("--{BOUNDARY}--\r\n")].concat();
    let request = TestRequest { body: Ok(body.into_bytes()), ..request(&dashboard, ADD, &[], b"") };
    let answer = dashboard.send(&request, Identity::Address(OPERATOR));
    assert_has(&answer, 422, &["Some fields are missing"]);
}
