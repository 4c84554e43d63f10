/** `bindForm` in Chromium once the form is sent: what a server found, an `onSubmit` that fails, and no message that no longer holds. */
import assert from "node:assert/strict";
import test from "node:test";
import { accessibilityNodes, axeFindings, useBrowser } from "./chromium.mjs";
import { VALID, field, formPage, live, shown } from "./form-page.mjs";

useBrowser();

const TAKEN = "We know this address under another name.";
const focused = (page) => page.evaluate(() => document.activeElement.id);
const idle = (page) =>
  page.waitForFunction(() => !document.querySelector("form").hasAttribute("aria-busy"));
const NOTHING = { lines: [], isVisible: false };

/** A page whose `onSubmit` does what `globalThis.answer` says, with the payload; unless set, it succeeds. */
async function pageThat(t, fields, options) {
  const page = await formPage(t, fields, { bind: false, ...options });
  await page.evaluate(() =>
    bindIt({
      onSubmit: async (payload) => {
        submitted.push(payload);
        return globalThis.answer?.(payload);
      },
    }),
  );
  return page;
}

async function send(page, button = "#send") {
  const before = await page.evaluate(() => submitted.length);
  await page.click(button);
  await idle(page);
  assert.equal(await page.evaluate(() => submitted.length), before + 1);
}

/** Ways to hand over one issue about the recipient's e-mail address. */
const SHAPES = {
  "a path, returned": (message) => ({ issues: [{ path: ["recipient", "email"], message }] }),
  "a path of keys, returned": (message) => ({
    issues: [{ path: [{ key: "recipient" }, { key: "email" }], message }],
  }),
  "a pointer alone, returned": (message) => ({
    issues: [{ pointer: "/recipient/email", message }],
  }),
  "ours, returned": (message) => ({
    issues: [
      { path: ["recipient", "email"], pointer: "/recipient/email", code: "invalid_email", message },
    ],
  }),
  "a path, thrown": (message) => {
    throw { issues: [{ path: ["recipient", "email"], message }] };
  },
  "an error with issues, thrown": (message) => {
    throw Object.assign(new Error("the request is not valid"), {
      issues: [{ path: ["recipient", "email"], pointer: "/recipient/email", message }],
    });
  },
  "a rejection": (message) =>
    Promise.reject(
      Object.assign(new Error("x"), { issues: [{ path: ["recipient", "email"], message }] }),
    ),
  "by `report`": (message) => globalThis.bound.report([{ path: ["recipient", "email"], message }]),
};

test("messages for developers, as `validate` has them, become texts for shoppers", async (t) => {
  const page = await pageThat(t, VALID);
  await page.evaluate(
    () =>
      (globalThis.answer = () => ({
        issues: [
          {
            path: ["recipient", "email"],
            code: "invalid_email",
            message: "must be an e-mail address such as `ada@example.org`",
            meta: {},
          },
          {
            path: ["pledges", 0, "impact", "amount"],
            code: "invalid_type",
            message: "must be a number, not a string",
            meta: { expected: "number", actual: "string" },
          },
        ],
      })),
  );
  await send(page);
  assert.deepEqual(
    [(await shown(page, "email")).text, (await shown(page, "amount")).text],
    ["Enter an e-mail address such as ada@example.org", "Enter a number"],
  );
});

for (const [shape, answer] of Object.entries(SHAPES)) {
  test(`an issue from the server goes to its field: ${shape}`, async (t) => {
    const page = await pageThat(t, VALID);
    await page.evaluate(`globalThis.answer = () => (${answer})(${JSON.stringify(TAKEN)})`);
    await send(page);
    assert.deepEqual(await shown(page, "email"), { invalid: "true", text: TAKEN, custom: false });
    assert.equal(await focused(page), "email");
    assert.deepEqual(await live(page), { lines: ["Please check 1 entry"], isVisible: false });
    assert.equal(
      await page.$eval("form", (form) => form.checkValidity()),
      true,
      "it doesn't hold the form back",
    );
    assert.deepEqual(await axeFindings(page), []);
    await page.fill("#amount", "4");
    assert.equal((await shown(page, "email")).text, TAKEN, "until its own field is edited");
    await page.fill("#email", "ada@example.com");
    assert.deepEqual(await shown(page, "email"), { invalid: null, text: "", custom: false });
    assert.deepEqual(await live(page), NOTHING);
    await page.evaluate(() => (globalThis.answer = undefined));
    await send(page);
    assert.deepEqual(await live(page), NOTHING);
  });
}

test("issues from the server are about the payload, whose items have moved up", async (t) => {
  const amounts = [0, 1, 2].map(
    (n) =>
      `<input type="hidden" name="pledges.${n}.impact.offeringId" value="tree">${field(`amount-${n}`, `pledges.${n}.impact.amount`, n === 0 ? "" : `value="${n}"`)}`,
  );
  const page = await pageThat(
    t,
    VALID.replace(/<input type="hidden"[\s\S]*/, "") + amounts.join(""),
  );
  await page.evaluate(
    () =>
      (globalThis.answer = () => ({
        issues: [
          { path: ["pledges", 1, "impact", "amount"], message: "Only one is left." },
          { path: ["pledges", 0, "impact", "amount"], message: "None is left." },
          { path: ["pledges", 0, "impact", "amount"], message: "Nor will there be." },
        ],
      })),
  );
  await send(page);
  assert.equal((await shown(page, "amount-1")).text, "None is left.");
  assert.equal((await shown(page, "amount-2")).text, "Only one is left.");
  assert.equal(await focused(page), "amount-1", "the first in the form");
  assert.deepEqual(await live(page), { lines: ["Please check 2 entries"], isVisible: false });
  await page.fill("#amount-1", "2");
  assert.deepEqual(await live(page), NOTHING, "there are no longer two");
  assert.equal((await shown(page, "amount-2")).text, "Only one is left.");
  await page.fill("#amount-0", "1");
  await page.evaluate(() =>
    bound.report([{ path: ["pledges", 1, "impact", "amount"], message: "Late." }]),
  );
  assert.equal(
    (await shown(page, "amount-2")).text,
    "Late.",
    "of what was sent, not of what the form has become",
  );
});

test("the shop's own fields have issues too, and a hidden or missing field has its issue where everybody sees it", async (t) => {
  const page = await pageThat(
    t,
    `${VALID}${field("coupon", "coupon", 'value="SPRING"')}${field("zip", "address.zip")}`,
  );
  await page.evaluate(
    () =>
      (globalThis.answer = () => ({
        issues: [
          { path: ["coupon"], message: "This coupon has expired." },
          { path: ["address", "zip"], message: "We don't deliver there." },
          { path: ["pledges", 0, "impact", "offeringId"], message: "No more trees today." },
          { path: ["nowhere"], message: "Come back tomorrow." },
          { message: "Come back tomorrow." },
        ],
      })),
  );
  await send(page);
  assert.equal((await shown(page, "coupon")).text, "This coupon has expired.");
  assert.equal((await shown(page, "zip")).text, "We don't deliver there.");
  assert.deepEqual(await live(page), {
    lines: ["Please check 4 entries", "No more trees today.", "Come back tomorrow."],
    isVisible: true,
  });
  assert.deepEqual(await axeFindings(page), []);
  await page.evaluate(() => (globalThis.answer = undefined));
  await send(page);
  assert.deepEqual(await live(page), NOTHING);
  for (const id of ["coupon", "zip"]) assert.equal((await shown(page, id)).invalid, null);
});

test("an issue about a group is shown in its element, and goes with an edit of any of its boxes", async (t) => {
  const box = (value) =>
    `<label><input type="checkbox" id="${value}" name="notifications" value="${value}"> ${value}</label>`;
  const page = await pageThat(
    t,
    `${VALID}<fieldset><legend>How</legend>${["Email", "MessagingServiceA", "MessagingServiceB"].map(box).join("")}</fieldset><p id="place" data-problem="notifications"></p>`,
  );
  await page.check("#Email");
  await page.check("#MessagingServiceA");
  await page.evaluate(
    () =>
      (globalThis.answer = () => ({
        issues: [
          { path: ["notifications", 1], message: "A is down." },
          { path: ["notifications"], message: "Fewer, please." },
        ],
      })),
  );
  await send(page);
  assert.equal(
    await page.textContent("#place"),
    "Fewer, please. A is down.",
    "both, in one element",
  );
  await page.check("#MessagingServiceB");
  assert.equal(await page.textContent("#place"), "");
});

test("of two problems in one element, the one that is left stays", async (t) => {
  const radio = (n) =>
    `<label><input type="checkbox" id="box-${n}" name="notifications" value="${["Email", "Pigeon", "Owl"][n]}"> ${n}</label>`;
  const page = await formPage(
    t,
    `${VALID}<fieldset><legend>How</legend>${[0, 1, 2].map(radio).join("")}</fieldset><p id="place" data-problem="notifications"></p>`,
  );
  await page.check("#box-1");
  await page.check("#box-2");
  assert.match(await page.textContent("#place"), /^Choose one of the options$/);
  await page.uncheck("#box-2");
  assert.match(await page.textContent("#place"), /^Choose one of the options/);
  await page.uncheck("#box-1");
  assert.equal(await page.textContent("#place"), "");
});

test("`report` works before the form is sent, after it was reset, and not once it is unbound", async (t) => {
  const page = await pageThat(t, VALID);
  const report = (issues) => page.evaluate((issues) => bound.report(issues), issues);
  await report([{ path: ["reference"], message: "Used before." }, { message: "Closed." }]);
  assert.equal((await shown(page, "reference")).text, "Used before.");
  assert.deepEqual(await live(page), {
    lines: ["Please check 2 entries", "Closed."],
    isVisible: true,
  });
  await report([{ path: ["reference"], message: "Still used." }]);
  assert.equal((await shown(page, "reference")).text, "Still used.");
  assert.deepEqual(
    await live(page),
    { lines: ["Please check 1 entry"], isVisible: false },
    "those before are gone",
  );
  await report([]);
  assert.equal((await shown(page, "reference")).invalid, null);
  assert.deepEqual(await live(page), NOTHING);
  await report([{ path: ["reference"], message: "Used." }]);
  await page.$eval("form", (form) => form.reset());
  await page.waitForFunction(
    () => !document.querySelector("#reference").hasAttribute("aria-invalid"),
  );
  assert.deepEqual(await live(page), NOTHING);
  await page.evaluate(() => bound.unbind());
  const before = await page.$eval("form", (form) => form.outerHTML);
  await page.evaluate(() => {
    bound.refresh();
    bound.report([{ path: ["reference"], message: "Late." }]);
    bound.unbind();
  });
  assert.equal(await page.$eval("form", (form) => form.outerHTML), before);
  assert.equal(await page.evaluate(() => bound.isActive), false);
});

test("hostile issues: bounded, nothing thrown, and text stays text", async (t) => {
  const page = await pageThat(t, VALID);
  const found = await page.evaluate(() => {
    const trap = new Proxy(
      {},
      {
        get() {
          throw new Error("trap");
        },
      },
    );
    const { proxy: revoked, revoke } = Proxy.revocable([], {});
    revoke();
    const garbage = [
      null,
      undefined,
      1,
      "x",
      Symbol("x"),
      trap,
      revoked,
      {},
      [],
      { message: 1 },
      { message: "" },
      { message: " " },
      { message: trap },
      { path: ["reference"] },
      { message: "m", path: trap },
      { message: "m", path: revoked },
      { message: "m", path: [trap] },
      { message: "m", path: [Object.create(null)] },
      { message: "m", pointer: trap },
      () => {},
    ];
    for (const issues of [...garbage, garbage]) bound.report(issues);
    const cyclic = {
      message: "<img src=x onerror=alert(1)>",
      path: ["constructor", "__proto__"],
      code: "__proto__",
    };
    cyclic.path.push(cyclic);
    bound.report([
      cyclic,
      { message: "a".repeat(1e6), pointer: "/a".repeat(1e6) },
      { message: "deep", path: Array(1e6).fill("recipient") },
      { message: "own", code: "constructor", path: ["reference"] },
      { message: "sym", path: [Symbol("x")] },
      { message: "num", path: 5 },
    ]);
    return {
      lines: [...document.querySelectorAll("form [role=status] > *")].map(
        (line) => line.textContent.length,
      ),
      images: document.querySelectorAll("form img").length,
      own: document.querySelector("#reference").getAttribute("aria-invalid"),
    };
  });
  assert.equal(found.images, 0);
  assert.equal(found.own, "true");
  assert.ok(
    found.lines.length >= 5 && found.lines.every((length) => length <= 1_000),
    JSON.stringify(found.lines),
  );
  const many = await page.evaluate(() => {
    let reads = 0;
    const issues = new Proxy(
      Array.from({ length: 200_000 }, (_, n) => ({ message: `${n}`, path: ["x", n] })),
      {
        get(target, key) {
          if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
          return target[key];
        },
      },
    );
    bound.report(issues);
    return { reads, lines: document.querySelectorAll("form [role=status] > *").length };
  });
  assert.deepEqual(many, { reads: 1_000, lines: 1_001 });
});

test("an issue of ours has the page's own text, unless that asks for what the issue has not", async (t) => {
  const page = await formPage(t, VALID, { bind: false });
  await page.evaluate(() => {
    bindIt({
      messages: {
        invalid_email: "Bitte prüfen",
        not_positive: ({ meta }) => `mehr als ${meta.minimum}`,
      },
    });
    bound.report([
      { path: ["recipient", "email"], code: "invalid_email", message: "x" },
      { path: ["pledges", 0, "impact", "amount"], code: "not_positive", message: "must be more" },
      { path: ["reference"], code: "not_positive", message: "y", meta: { minimum: 0 } },
    ]);
  });
  assert.deepEqual(
    [
      (await shown(page, "email")).text,
      (await shown(page, "amount")).text,
      (await shown(page, "reference")).text,
    ],
    ["Bitte prüfen", "must be more", "mehr als 0"],
  );
});

/** Ways in which `onSubmit` may fail to give an answer for a buyer. */
const FAILURES = {
  "an error": "throw new TypeError('Failed to fetch')",
  nothing: "throw undefined",
  "issues without a message": "return { issues: [{ path: ['reference'] }, null] }",
  "an empty list of issues": "throw { issues: [] }",
  "what can't be read": "throw new Proxy({}, { get() { throw new Error('trap'); } })",
};

for (const [name, body] of Object.entries(FAILURES)) {
  test(`an \`onSubmit\` that fails with ${name}: a message, a button, and word to the developer`, async (t) => {
    const page = await pageThat(t, VALID, { expected: /./ });
    await page.evaluate((body) => {
      globalThis.caught = 0;
      addEventListener("error", () => (globalThis.caught += 1));
      globalThis.answer = new Function(body);
    }, body);
    await send(page);
    const alert = page.locator("form [role=alert]");
    assert.equal(await alert.locator("p").textContent(), "This could not be sent");
    assert.equal(await page.evaluate(() => globalThis.caught), 1);
    assert.deepEqual(await axeFindings(page), []);
    await page.focus("#send");
    await page.keyboard.press("Tab");
    assert.equal(
      await page.evaluate(() => document.activeElement.textContent),
      "Try again",
      "by keyboard",
    );
    await page.keyboard.press("Enter");
    await idle(page);
    assert.equal(await page.evaluate(() => submitted.length), 2);
    assert.equal(await alert.count(), 1, "one, however often it fails");
    assert.equal(await focused(page), "send", "the focus is not lost with the button");
    await page.evaluate(() => (globalThis.answer = undefined));
    await page.click("text=Try again");
    await idle(page);
    assert.equal(await alert.count(), 0);
    assert.deepEqual(await live(page), NOTHING);
    assert.equal(await page.evaluate(() => submitted.length), 3);
  });
}

test("a message of a failure leaves when the form is sent, reset or unbound, and has texts of the page's own", async (t) => {
  const page = await formPage(t, VALID, { bind: false, expected: /down/ });
  const before = await page.$eval("form", (form) => form.outerHTML);
  await page.evaluate(() =>
    bindIt({
      messages: {
        submit_failed: "Nicht gesendet.",
        retry: "Noch einmal",
        summary: ({ count }) => `${count} Fehler`,
      },
      onSubmit: () => {
        throw new Error("down");
      },
    }),
  );
  const alert = page.locator("form [role=alert]");
  await page.click("#send");
  assert.equal(await alert.innerText(), "Nicht gesendet.\n\nNoch einmal");
  await page.fill("#email", "x");
  await page.click("#send");
  assert.equal(await alert.count(), 0, "the form has other problems now");
  assert.deepEqual(await live(page), { lines: ["1 Fehler"], isVisible: false });
  await page.fill("#email", "ada@example.org");
  await page.click("#send");
  await page.$eval("form", (form) => form.reset());
  await page.waitForFunction(() => !document.querySelector("form [role=alert]"));
  await page.click("#send");
  assert.equal(await alert.count(), 1);
  await page.evaluate(() => bound.unbind());
  assert.equal(await page.$eval("form", (form) => form.outerHTML), before);
});

test("a locale pack has every text that a form shows", async (t) => {
  const page = await formPage(t, VALID, { bind: false, expected: /down/ });
  await page.evaluate(() =>
    bindIt({
      messages: de,
      onSubmit: () => {
        throw new Error("down");
      },
    }),
  );
  await page.fill("#email", "x");
  await page.fill("#amount", "0");
  await page.click("#send");
  assert.deepEqual(
    [(await shown(page, "email")).text, (await shown(page, "amount")).text],
    [
      "Geben Sie eine E-Mail-Adresse wie ada@example.org ein",
      "Geben Sie eine Zahl größer als 0 ein",
    ],
  );
  assert.deepEqual(await live(page), { lines: ["Bitte prüfen Sie 2 Eingaben"], isVisible: false });
  await page.fill("#email", "ada@example.org");
  await page.fill("#amount", "1");
  await page.click("#send");
  assert.equal(
    await page.innerText("form [role=alert]"),
    "Das konnte nicht gesendet werden\n\nErneut versuchen",
  );
});

test("without `reportError` the console has the error", async (t) => {
  const page = await pageThat(t, VALID, { expected: /down/ });
  const logged = [];
  page.on("console", (message) => logged.push(message.type()));
  await page.evaluate(() => {
    delete globalThis.reportError;
    globalThis.answer = () => Promise.reject(new Error("down"));
  });
  await send(page);
  assert.deepEqual(logged, ["error"]);
});

test("what was announced leaves as soon as it no longer holds", async (t) => {
  const page = await formPage(t, VALID);
  await page.fill("#email", "x");
  await page.keyboard.press("Tab");
  assert.deepEqual((await live(page)).lines, ["Enter an e-mail address such as ada@example.org"]);
  await page.fill("#amount", "-1");
  await page.keyboard.press("Tab");
  assert.deepEqual((await live(page)).lines, [
    "Enter an e-mail address such as ada@example.org",
    "Enter a number greater than 0",
  ]);
  await page.fill("#email", "");
  assert.deepEqual(
    (await live(page)).lines,
    ["Enter a number greater than 0", "Fill in this field"],
    "another message in place of the first",
  );
  await page.fill("#email", "ada@example.org");
  assert.deepEqual((await live(page)).lines, ["Enter a number greater than 0"]);
  await page.click("#send");
  assert.deepEqual((await live(page)).lines, ["Please check 1 entry"]);
  await page.fill("#amount", "1");
  assert.deepEqual(await live(page), NOTHING);
  await page.click("#send");
  assert.deepEqual(await live(page), NOTHING, "nor after success");
});

test("each message is announced once: lines that stay are not touched as others come and go", async (t) => {
  const page = await formPage(t, VALID);
  await page.evaluate(() => {
    globalThis.changes = [];
    const { textContent } = document.querySelector("form [role=status]");
    changes.push(textContent);
    new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const { textContent } of addedNodes) changes.push(textContent);
    }).observe(document.querySelector("form [role=status]"), {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  assert.equal(await page.getAttribute("form [role=status]", "aria-atomic"), "false");
  await page.fill("#email", "x");
  await page.keyboard.press("Tab");
  await page.fill("#amount", "-1");
  await page.keyboard.press("Tab");
  await page.fill("#email", "ada@example.org");
  await page.keyboard.press("Tab");
  assert.deepEqual(await page.evaluate(() => changes), [
    "",
    "Enter an e-mail address such as ada@example.org",
    "Enter a number greater than 0",
  ]);
});

test("a screen reader's tree has name, description and state before and after a server's error", async (t) => {
  const page = await pageThat(t, VALID);
  const tree = async () => {
    const { role, name, description, states } = (await accessibilityNodes(page)).find(
      ({ role, name }) => role === "textbox" && name === "email",
    );
    return { role, name, description, invalid: states.invalid };
  };
  const quiet = { role: "textbox", name: "email", description: "", invalid: "false" };
  assert.deepEqual(await tree(), quiet);
  await page.evaluate(
    (message) =>
      (globalThis.answer = () => ({ issues: [{ path: ["recipient", "email"], message }] })),
    TAKEN,
  );
  await send(page);
  assert.deepEqual(await tree(), { ...quiet, description: TAKEN, invalid: "true" });
  await page.fill("#email", "ada@example.com");
  assert.deepEqual(await tree(), quiet);
});
