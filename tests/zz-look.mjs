import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { FLAGS } from "../scripts/lib/browser.mjs";
import { prepareTools } from "../scripts/lib/tools.mjs";
const tools = await prepareTools({ browser: true });
const browser = await chromium.launch({ executablePath: tools.browser, args: FLAGS });
const body = `<!doctype html><html lang="en"><head><meta name="color-scheme" content="light dark"><style>body{font:17px/1.5 system-ui;padding:20px} .own::part(icon){background:url(data:,) red;border-radius:50%} .own{--impact-background:#222;--impact-color:#fff}</style><script type="module" src="/badge.js"></script></head><body>
<p>Espresso, 250 g <impact-badge amount="3" one="tree" other="trees">3 trees</impact-badge> text after</p>
<p><impact-badge amount="1" one="{} tree with this order" other="{} trees with this order" href="/x">x</impact-badge></p>
<p lang="pl"><impact-badge amount="22" one="{} drzewo z tym zamówieniem" few="{} drzewa z tym zamówieniem" many="{} drzew z tym zamówieniem" other="{} drzewa z tym zamówieniem">x</impact-badge></p>
<p dir="rtl" lang="ar"><impact-badge amount="11" few="أشجار" many="شجرة مع هذا الطلب" other="شجرة">x</impact-badge></p>
<p><impact-badge amount="12345.5" lang="de" other="{} Kilo Plastik aus dem Meer mit Ihrer Bestellung, und das ist ein ziemlich langer Satz, der umbricht">x</impact-badge></p>
<p>own: <impact-badge amount="nonsense" other="trees">Trees with <b>every</b> order</impact-badge></p>
<p>empty: [<impact-badge amount="0" other="trees"></impact-badge>]</p>
<p style="font-size:40px"><impact-badge class="own" amount="3" one="tree" other="trees">3 trees</impact-badge></p>
</body></html>`;
for (const colorScheme of ["light", "dark"]) for (const width of [390, 1280]) {
  const page = await (await browser.newContext({ colorScheme, viewport: { width, height: 640 } })).newPage();
  page.on("console", (m) => console.log(m.text())); page.on("pageerror", (e) => console.log(e));
  await page.route("http://x.test/**", (r) => r.fulfill(r.request().url().endsWith("badge.js") ? { contentType: "text/javascript", body: readFileSync("pkg/badge.js", "utf8") } : { contentType: "text/html; charset=utf-8", body }));
  await page.goto("http://x.test/"); await page.waitForTimeout(200);
  await page.screenshot({ path: `/tmp/w/badge-${colorScheme}-${width}.png` });
}
await browser.close();
