// SPDX-License-Identifier: Apache-2.0
// What the results of a page say about its model.
import type { Known } from "./motion_view";
import type { ModelUnits, Motion, Part } from "./report_document";

/// Collects what equilibria, basins and certificates on this page say about the model, to draw it in phase planes. `units`
/// are those of the page; motions have their own.
export function knownOf(parts: Part[], units?: ModelUnits): Known {
    const known: Known = { sets: [], units };
    for (const p of parts) {
        const m = p.data as Motion;
        if (p.kind === "motion" && m.units) known.units = { ...m.units, q: Object.fromEntries(m.coordinates.map((c, k) => [c, m.units!.q[k]])) };
    }
    for (const kind of ["equilibria", "basin"])
        for (const p of parts)
            if (p.kind === kind && !known.sets.length) known.sets = p.data.sets ?? [];
    known.basin = parts.find((p) => p.kind === "basin" && p.data.V)?.data;
    const proof = parts.find((p) => p.kind === "certify" && p.data.verdict === "attractive" && typeof p.data.rho === "number");
    if (proof) {
        known.rho = proof.data.rho;
        known.level = proof.data.rho + potentialAt(known.sets, proof.data.equilibrium?.q ?? {});
    }
    return known;
}

/// The potential energy of the equilibrium set that contains q; 0 if no set of the page contains it.
function potentialAt(sets: any[], q: Record<string, number>): number {
    const tolerance = 1e-6; // certificates and equilibria compute the set separately
    const contains = (s: any) =>
        Object.entries<[number, number]>(s.extent ?? {}).every(([n, r]) => q[n] === undefined || (q[n] > r[0] - tolerance && q[n] < r[1] + tolerance));
    const set = sets.find(contains);
    return typeof set?.potential?.[0] === "number" ? set.potential[0] : typeof set?.potential === "number" ? set.potential : 0;
}
