// SPDX-License-Identifier: Apache-2.0
// Light and dark theme.

let listeners: { f: () => void; element?: HTMLElement }[] = [];
const dark = window.matchMedia("(prefers-color-scheme: dark)");

/// The theme that the user chose, otherwise that of the system.
export function isDark(): boolean {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : dark.matches;
}

export function toggleTheme(): void {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    repaint();
}
function repaint(): void {
    known = new Map();
    for (const l of listeners) l.f();
}

/// Calls f when the theme changes, so that canvases are painted again. `element` is what f paints.
export function onTheme(f: () => void, element?: HTMLElement): void {
    listeners.push({ f, element });
}
/// Forgets those whose element is no longer part of the page.
export function forgetDetached(): void {
    listeners = listeners.filter((l) => !l.element || l.element.isConnected);
}
dark.addEventListener("change", repaint);

let known = new Map<string, string>(); // colours of the theme that is shown: asking the browser makes it compute styles

/// The value of a colour variable of style.css.
export function color(name: string): string {
    let value = known.get(name);
    if (value === undefined) {
        value = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
        known.set(name, value);
    }
    return value;
}

// Eight colours of curves that colour-blind readers can tell apart, for light and for dark background.
const onLight = ["#0b62a8", "#c8500b", "#0a7f58", "#a8326e", "#8a6d00", "#3a8fd0", "#6a4fb0", "#555f6b"];
const onDark = ["#63b3f5", "#f59a55", "#4fcf9f", "#ec85b8", "#e3c34a", "#9fd4ff", "#b8a4f5", "#b4bdc8"];

/// The colour of curve k.
export function curveColor(k: number): string {
    const list = isDark() ? onDark : onLight;
    return list[k % list.length];
}
