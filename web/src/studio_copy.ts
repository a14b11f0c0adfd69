// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom";

/// A button that copies a text, and the text.
export function copyable(kind: string, text: string): HTMLElement {
    const button = el("button", { type: "button", class: "copy" }, "copy as " + kind);
    const code = el("code", { class: "command" }, text);
    button.onclick = async () => {
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            getSelection()?.selectAllChildren(code); // the browser does not allow it: the text is ready to be copied
            document.execCommand("copy");
        }
        button.textContent = "copied";
        setTimeout(() => (button.textContent = "copy as " + kind), 1000);
    };
    return el("div", { class: "copyable" }, button, code);
}
