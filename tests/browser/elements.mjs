/** Custom elements that behave like those of component libraries. Each function runs in the page. */

/**
 * Defines a text field like those of Material Web and Web Awesome. It is form-associated, and each call of
 * `setCustomValidity` renders it again from `value`.
 */
export function defineText() {
  customElements.define(
    "x-text",
    class extends HTMLElement {
      static formAssociated = true;
      #internals = this.attachInternals();
      #input = document.createElement("input");
      #value = "";
      constructor() {
        super();
        this.attachShadow({ mode: "open", delegatesFocus: true }).append(this.#input);
        this.#input.addEventListener("input", () => {
          this.value = this.#input.value;
        });
      }
      get form() {
        return this.#internals.form;
      }
      get name() {
        return this.getAttribute("name");
      }
      get value() {
        return this.#value;
      }
      set value(text) {
        this.#value = text;
        // As with Lit, the posted value changes after the event.
        queueMicrotask(() => this.#internals.setFormValue(text));
        this.#render();
      }
      get willValidate() {
        return this.#internals.willValidate;
      }
      get validity() {
        return this.#internals.validity;
      }
      get validationMessage() {
        return this.#internals.validationMessage;
      }
      setCustomValidity(text) {
        const validity = text ? { customError: true } : {};
        const apply = () => this.#internals.setValidity(validity, text || undefined, this.#input);
        if (this.hasAttribute("late")) setTimeout(apply, 200);
        else apply();
        this.#render();
      }
      #render() {
        queueMicrotask(() => {
          if (this.#input.value !== this.#value) this.#input.value = this.#value;
        });
      }
    },
  );
}

/** Defines a minimal form-associated checkbox: no `form`, no validity and no `checked` property. */
export function defineBox() {
  customElements.define(
    "x-box",
    class extends HTMLElement {
      static formAssociated = true;
      #internals = this.attachInternals();
      value = this.getAttribute("value");
      #isTicked = false;
      constructor() {
        super();
        this.tabIndex = 0;
        this.attachShadow({ mode: "open" }).append("box");
        this.addEventListener("click", () => {
          this.#isTicked = !this.#isTicked;
          this.#internals.setFormValue(this.#isTicked ? this.value : null);
          this.dispatchEvent(new Event("change", { bubbles: true }));
        });
      }
    },
  );
}

/** Defines a field like those of Shoelace: it is not form-associated, and adds its value in a `formdata` listener. */
export function defineListener() {
  customElements.define(
    "x-listener",
    class extends HTMLElement {
      name = this.getAttribute("name") ?? "";
      #input = document.createElement("input");
      constructor() {
        super();
        this.attachShadow({ mode: "open", delegatesFocus: true }).append(this.#input);
      }
      connectedCallback() {
        this.#input.value = this.getAttribute("value") ?? "";
        this.closest("form")?.addEventListener("formdata", ({ formData }) =>
          formData.append(this.name, this.value),
        );
      }
      get value() {
        return this.#input.value;
      }
      get validity() {
        return this.#input.validity;
      }
      get validationMessage() {
        return this.#input.validationMessage;
      }
      setCustomValidity(text) {
        this.#input.setCustomValidity(text);
      }
    },
  );
}
