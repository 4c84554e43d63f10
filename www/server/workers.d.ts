/** The globals of Cloudflare Workers that the shop uses. */
interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void;
}

interface RewrittenElement {
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): this;
  removeAttribute(name: string): this;
  append(content: string, options?: { html?: boolean }): this;
  setInnerContent(content: string): this;
  remove(): this;
}

declare class HTMLRewriter {
  on(selector: string, handlers: { element(element: RewrittenElement): unknown }): this;
  transform(response: Response): Response;
}
