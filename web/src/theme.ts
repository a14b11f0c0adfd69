// SPDX-License-Identifier: Apache-2.0

const listeners: (() => void)[] = [];
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : dark.matches;
}

export function toggleTheme(): void {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    for (const f of listeners) f();
}

/// Canvases paint their colours anew when the theme changes.
export function onTheme(f: () => void): void {
    listeners.push(f);
}
dark.addEventListener("change", () => listeners.forEach((f) => f()));

export function color(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Eight hues that stay apart for colour-blind eyes, for light and for dark ground.
const onLight = ["#0b62a8", "#c8500b", "#0a7f58", "#a8326e", "#8a6d00", "#3a8fd0", "#6a4fb0", "#555f6b"];
const onDark = ["#63b3f5", "#f59a55", "#4fcf9f", "#ec85b8", "#e3c34a", "#9fd4ff", "#b8a4f5", "#b4bdc8"];

export function curveColor(k: number): string {
    const list = isDark() ? onDark : onLight;
    return list[k % list.length];
}
