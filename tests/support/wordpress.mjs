/** A shop with the plugin of examples/woocommerce: PHP as wasm, and a stand-in for WordPress and WooCommerce. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { getPHPLoaderModule } from "@php-wasm/node-8-3";
import * as universal from "@php-wasm/universal";

// Its declarations import files without extensions, which TypeScript does not find.
const { PHP, loadPHPRuntime } = /** @type {any} */ (universal);
export const PLUGIN = join(import.meta.dirname, "../../examples/woocommerce");

/**
 * What a request did. `html`: what it printed; `problems`: what the checkout refused; `order`: the order that it saved; `kept`:
 * what the shop keeps
 * @typedef {{status: number, location?: string, html: string, problems?: string[], pings?: number, order?: any, fees: any[],
 *   fields: any, compatible: any, kept: any}} Result
 */

export class Shop {
  #php;

  /** @param {any} php an instance of `PHP` */
  constructor(php) {
    this.#php = php;
    php.mkdir("/plugin");
    const here = import.meta.dirname;
    for (const name of ["wordpress.php", "wordpress-steps.php"])
      php.writeFile(`/${name}`, readFileSync(join(here, name)));
    for (const name of readdirSync(PLUGIN).filter((name) => name.endsWith(".php")))
      php.writeFile(`/plugin/${name}`, readFileSync(join(PLUGIN, name)));
  }

  static async open() {
    return new Shop(new PHP(await loadPHPRuntime(await getPHPLoaderModule())));
  }

  /** Forgets all that the shop keeps. */
  empty() {
    if (this.#php.fileExists("/database")) this.#php.unlink("/database");
  }

  /**
   * Sends a request. `do` names one of the steps in wordpress-steps.php, and `form` is what the browser posts.
   * @param {{do: string, form?: Record<string, any>, [more: string]: any}} step
   * @returns {Promise<Result>}
   */
  async send({ form, ...step }) {
    this.#php.writeFile("/step.json", JSON.stringify(step));
    const response = await this.#php.run({
      scriptPath: "/wordpress-steps.php",
      ...(form && {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new TextEncoder().encode(String(new URLSearchParams(form))),
      }),
    });
    if (response.exitCode !== 0 || response.errors)
      throw new Error(`PHP: ${response.errors}\n${response.text}`);
    return JSON.parse(response.text);
  }

  /** Returns what a file of the plugin prints if a browser opens it without WordPress. */
  async alone(name) {
    const { exitCode, errors, text } = await this.#php.run({ scriptPath: `/plugin/${name}` });
    return `${exitCode || ""}${errors}${text}`;
  }

  close() {
    this.#php.exit();
  }
}
