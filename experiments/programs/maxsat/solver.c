/* Local search for MAX-SAT: prints the smallest number of unsatisfied clauses that it has met.

   solver INSTANCE SEED --name=value ..   (INSTANCE: a formula in DIMACS format) */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLIPS 1500

static int n, m, *clause, *start, *occurs, *begins; /* clause i: clause[start[i] .. start[i + 1]) */
static int *value, *satisfied, *unsat, *place, n_unsat;
static long *flipped;

static const char *algorithm = "gsat", *init = "random";
static double noise = 0.5, make_weight = 0.0, age = 0.5, perturb = 1.0;
static long tabu = 0, restart = 2000;

static uint64_t state;
static double uniform(void) { /* xorshift64* */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (double)((state * 2685821657736338717ull) >> 11) / 9007199254740992.0;
}
static int below(int k) { return (int)(uniform() * k); }
static int holds(int literal) { return literal > 0 ? value[literal] : !value[-literal]; }

static void die(const char *what) {
    fprintf(stderr, "solver: %s\n", what);
    exit(1);
}

static void add(int c) { place[c] = n_unsat, unsat[n_unsat++] = c; }
static void take_out(int c) {
    int last = unsat[--n_unsat];
    unsat[place[c]] = last, place[last] = place[c];
}

static void count(void) {
    n_unsat = 0;
    for (int c = 0; c < m; c++) {
        satisfied[c] = 0;
        for (int k = start[c]; k < start[c + 1]; k++) satisfied[c] += holds(clause[k]);
        if (!satisfied[c]) add(c);
    }
}

static void flip(int v, long now) {
    value[v] = !value[v], flipped[v] = now;
    for (int k = begins[v]; k < begins[v + 1]; k++) {
        int c = abs(occurs[k]) - 1, literal = occurs[k] > 0 ? v : -v;
        if (holds(literal)) {
            if (!satisfied[c]++) take_out(c);
        } else if (!--satisfied[c]) add(c);
    }
}

/* What a flip costs: clauses broken, less the weighted number of clauses made. */
static double score(int v) {
    int broken = 0, made = 0;
    for (int k = begins[v]; k < begins[v + 1]; k++) {
        int c = abs(occurs[k]) - 1, literal = occurs[k] > 0 ? v : -v;
        if (holds(literal)) broken += satisfied[c] == 1;
        else made += satisfied[c] == 0;
    }
    return broken - make_weight * made;
}

static int pick(long now) {
    int c = unsat[below(n_unsat)], size = start[c + 1] - start[c], best = 0, second = 0;
    double least = 1e9, next = 1e9;
    if (!strcmp(algorithm, "gsat")) {
        for (int v = 1; v <= n; v++) {
            double s = score(v) + uniform() * 1e-6;
            if (now - flipped[v] > tabu && s < least) least = s, best = v;
        }
        return best ? best : 1 + below(n);
    }
    if (!strcmp(algorithm, "walksat") && uniform() < noise) return abs(clause[start[c] + below(size)]);
    int oldest = abs(clause[start[c]]), youngest = oldest;
    for (int k = start[c]; k < start[c + 1]; k++) {
        int v = abs(clause[k]);
        double s = score(v) + uniform() * 1e-6;
        if (s < least) next = least, second = best, least = s, best = v;
        else if (s < next) next = s, second = v;
        if (flipped[v] < flipped[oldest]) oldest = v;
        if (flipped[v] > flipped[youngest]) youngest = v;
    }
    if (strcmp(algorithm, "novelty")) return best;
    if (uniform() < 0.1 * age) return oldest;
    return best == youngest && second && uniform() < noise ? second : best;
}

static void begin(int anew) {
    for (int v = 1; v <= n; v++) {
        if (!anew && uniform() >= perturb) continue;
        int balance = 0;
        for (int k = begins[v]; k < begins[v + 1]; k++) balance += occurs[k] > 0 ? 1 : -1;
        value[v] = !strcmp(init, "majority") && balance ? balance > 0 : uniform() < 0.5;
    }
    count();
}

static void read_formula(const char *path) {
    FILE *file = fopen(path, "r");
    char line[4096];
    if (!file) die("the instance cannot be read");
    while (fgets(line, sizeof line, file) && sscanf(line, "p cnf %d %d", &n, &m) != 2) {}
    if (n < 1 || m < 1) die("there is no line 'p cnf'");
    size_t room = (size_t)m * 16;
    clause = calloc(room, sizeof *clause), start = calloc(m + 1, sizeof *start);
    int literal, k = 0;
    for (int c = 0; c < m; c++) {
        while (fscanf(file, "%d", &literal) == 1 && literal && (size_t)k < room) clause[k++] = literal;
        start[c + 1] = k;
    }
    fclose(file);
    occurs = calloc(k + 1, sizeof *occurs), begins = calloc(n + 2, sizeof *begins);
    for (int v = 1, at = 0; v <= n; v++) {
        begins[v] = at;
        for (int c = 0; c < m; c++)
            for (int i = start[c]; i < start[c + 1]; i++)
                if (abs(clause[i]) == v) occurs[at++] = clause[i] > 0 ? c + 1 : -(c + 1);
        begins[v + 1] = at;
    }
    value = calloc(n + 1, sizeof *value), flipped = calloc(n + 1, sizeof *flipped);
    satisfied = calloc(m, sizeof *satisfied), unsat = calloc(m, sizeof *unsat), place = calloc(m, sizeof *place);
}

static void option(char *text) {
    char *is = strchr(text, '=');
    if (!is) die("options are --name=value");
    *is++ = 0;
    if (!strcmp(text, "--algorithm")) algorithm = is;
    else if (!strcmp(text, "--init")) init = is;
    else if (!strcmp(text, "--noise")) noise = atof(is);
    else if (!strcmp(text, "--make")) make_weight = atof(is);
    else if (!strcmp(text, "--age")) age = atof(is);
    else if (!strcmp(text, "--perturb")) perturb = atof(is);
    else if (!strcmp(text, "--tabu")) tabu = atol(is);
    else if (!strcmp(text, "--restart")) restart = atol(is);
    else die("an option is not known");
}

int main(int argc, char **argv) {
    if (argc < 3) die("give INSTANCE SEED --name=value ..");
    read_formula(argv[1]);
    state = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15ull + 1;
    for (int i = 3; i < argc; i++) option(argv[i]);
    for (int v = 1; v <= n; v++) flipped[v] = -1000000;
    begin(1);
    int best = n_unsat;
    for (long now = 1; now <= FLIPS && best; now++) {
        if (now % restart == 0) begin(0);
        if (n_unsat) flip(pick(now), now);
        if (n_unsat < best) best = n_unsat;
    }
    printf("%d\n", best);
    return 0;
}
