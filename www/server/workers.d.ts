/** The globals of Cloudflare Workers that the shop uses. */
interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void;
}

interface RewrittenElement {
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): this;
  removeAttribute(name: string): this;
  append(content: string, options?: { html?: boolean }): this;
  setInnerContent(content: string, options?: { html?: boolean }): this;
  remove(): this;
}

interface KVNamespace {
  get(name: string, type: "json"): Promise<unknown>;
  put(
    name: string,
    value: string,
    options: { expirationTtl: number; metadata: unknown },
  ): Promise<void>;
  delete(name: string): Promise<void>;
  list(options?: { limit: number }): Promise<{ keys: { name: string; metadata?: unknown }[] }>;
}

declare class HTMLRewriter {
  on(selector: string, handlers: { element(element: RewrittenElement): unknown }): this;
  transform(response: Response): Response;
}
