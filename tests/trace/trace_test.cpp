#include "catch.hpp"

#include <attest/io/case_file.hpp>
#include <attest/trace/trace.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

// The trace, line by line where a page of the chapter says what a line must be: the numbers below are copied
// from it by hand. Then other heads, and what each format promises: text fits 80 columns, ascii is ASCII,
// markdown stays safe where sites read it before they set the mathematics, and LaTeX compiles.

using attest::trace;
using attest::trace_format;
using attest::trace_options;

namespace {

attest::problem problem_of(const std::string& json) { return attest::io::read_case(json, "case").problem; }

const std::string chapter_json = R"({
    "X": [[1, 0], [0, 1], [1, 1]], "WQ": [[1, 0], [0, 1]], "WK": [[1, 1], [0, 1]], "WV": [[1, 0], [1, 2]]})";

std::string chapter(trace_format format) {
  return trace(problem_of(chapter_json), {format, 6, "", {"red", "key", "."}});
}

// Whether the text has these lines, one after another, blank ones aside.
bool has_lines(const std::string& text, const std::string& lines) {
  const auto packed = [](const std::string& from) {
    std::istringstream in(from);
    std::string result = "\n";
    for (std::string line; std::getline(in, line);)
      if (line.find_first_not_of(' ') != std::string::npos) result += line + '\n';
    return result;
  };
  return packed(text).find(packed(lines)) != std::string::npos;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t longest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(in, line);) {
    std::size_t width = 0;
    for (const char c : line) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    longest = std::max(longest, width);
  }
  return longest;
}

// 1 to n in some order, as JSON rows.
std::string rows(int count, int width, int step) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    text += i > 0 ? ", [" : "[";
    for (int j = 0; j < width; ++j) text += (j > 0 ? ", " : "") + std::to_string((i * step + j * 3) % 7 - 3);
    text += "]";
  }
  return text + "]";
}
std::string head(int queries, int keys, int width, int values) {
  return R"({"Q": )" + rows(queries, width, 5) + R"(, "K": )" + rows(keys, width, 2) + R"(, "V": )" +
         rows(keys, values, 3) + "}";
}

const std::string floats =
    R"({"Q": [[0.1, -0.25], [1e-3, 2]], "K": [[0.7, 0.3], [-1.5, 0.1]], "V": [[0.1, 1], [-0.2, 1]]})";

}  // namespace

// --- the chapter -------------------------------------------------------------------------------------------

TEST_CASE("15.1: the inputs and the three products") {
  const std::string text = chapter(trace_format::text);
  CHECK(has_lines(text, "The positions are 1 red, 2 key, 3 .\n"));
  CHECK(has_lines(text, "X [3, 2] =\n    [ 1  0 ]\n    [ 0  1 ]\n    [ 1  1 ]\n"
                        "W_Q [2, 2] =\n    [ 1  0 ]\n    [ 0  1 ]\n"
                        "W_K [2, 2] =\n    [ 1  1 ]\n    [ 0  1 ]\n"
                        "W_V [2, 2] =\n    [ 1  0 ]\n    [ 1  2 ]\n"));
  CHECK(has_lines(text, "Q [3, 2] = X W_Q =\n    [ 1  0 ]\n    [ 0  1 ]\n    [ 1  1 ]\n"));
  CHECK(has_lines(text, "K [3, 2] = X W_K =\n    [ 1  1 ]\n    [ 0  1 ]\n    [ 1  2 ]\n"));
  CHECK(has_lines(text, "V [3, 2] = X W_V =\n    [ 1  0 ]\n    [ 1  2 ]\n    [ 2  2 ]\n"));
  // "Q's third-row first coordinate is", "K's third-row second coordinate is", "V's second-row second
  // coordinate is"
  CHECK(has_lines(text, "    Q[3,1] = 1×1 + 1×0 = 1\n"));
  CHECK(has_lines(text, "    K[3,2] = 1×1 + 1×1 = 2\n"));
  CHECK(has_lines(text, "    V[2,2] = 0×0 + 1×2 = 2\n"));
}

TEST_CASE("15.2: every query with every key") {
  const std::string text = chapter(trace_format::text);
  CHECK(has_lines(text, "D [3, 3] = Q Kᵀ =\n    [ 1  0  1 ]\n    [ 1  1  2 ]\n    [ 2  1  3 ]\n"));
  CHECK(has_lines(text,
                  "    D[1,1] = 1×1 + 0×1 = 1\n    D[1,2] = 1×0 + 0×1 = 0\n    D[1,3] = 1×1 + 0×2 = 1\n"));
  CHECK(has_lines(text, "    D[3,2] = 1×0 + 1×1 = 1\n"));  // "Its third-row second-column element"
}

TEST_CASE("15.3: scores, rows in r, and Table 15.1") {
  const std::string text = chapter(trace_format::text);
  CHECK(has_lines(text, "    s = 1/√d_k = 1/√2 ≈ 0.707107\n"
                        "S [3, 3] = D/√2 =\n    [  s  0   s ]\n    [  s  s  2s ]\n    [ 2s  s  3s ]\n"
                        "    S[3,3] = 3s = 3/√2 ≈ 2.121320\n"));
  CHECK(has_lines(text, "    r = e^s = e^(1/√2) ≈ 2.028115\n"
                        "    e^S_1 = [r, 1, r]\n"
                        "    A_1 = [r, 1, r]/(2r + 1)\n"
                        "    2r + 1 ≈ 5.056230\n"
                        "    e^S_2 = [r, r, r²] = r·[1, 1, r]\n"
                        "    A_2 = [1, 1, r]/(2 + r)\n"));
  CHECK(has_lines(text, "    e^S_3 = [r², r, r³] = r·[r, 1, r²]\n"
                        "    A_3 = [r, 1, r²]/(r + 1 + r²)\n"));
  CHECK(has_lines(text, "    position   value 1   value 2   value 3\n"
                        "    1 red     0.401112  0.197776  0.401112\n"
                        "    2 key     0.248255  0.248255  0.503490\n"
                        "    3 .       0.283995  0.140029  0.575975\n"));
}

TEST_CASE("15.4: outputs") {
  const std::string text = chapter(trace_format::text);
  CHECK(has_lines(text, "    O[1,1] = (r×1 + 1×1 + r×2)/(2r + 1) = (3r + 1)/(2r + 1) ≈ 1.401112\n"
                        "    O[1,2] = (r×0 + 1×2 + r×2)/(2r + 1) = (2 + 2r)/(2r + 1) ≈ 1.197776\n"));
  CHECK(has_lines(text,
                  "O [3, 2] = A V ≈\n    [ 1.401112  1.197776 ]\n    [ 1.503490  1.503490 ]\n    [ 1.575975  "
                  "1.432009 ]\n"));
}

TEST_CASE("the chapter in ASCII") {
  const std::string text = chapter(trace_format::ascii);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  CHECK(has_lines(text, "D [3, 3] = Q K^T =\n"));
  CHECK(has_lines(text, "    Q[3,1] = 1*1 + 1*0 = 1\n"));
  CHECK(has_lines(text, "    S[3,3] = 3s = 3/sqrt(2) ~= 2.121320\n"));
  CHECK(has_lines(text, "    r = e^s = e^(1/sqrt(2)) ~= 2.028115\n"));
  CHECK(has_lines(text, "    A_3 = [r, 1, r^2]/(r + 1 + r^2)\n"));
}

TEST_CASE("the chapter in Markdown") {
  const std::string text = chapter(trace_format::markdown);
  CHECK(has_lines(text,
                  "$$\nD = Q K^{\\mathsf T} = \\begin{bmatrix} 1 & 0 & 1 \\cr 1 & 1 & 2 \\cr 2 & 1 & 3 \\cr "
                  "\\end{bmatrix} \\qquad [3, 3]\n$$\n"));
  CHECK(has_lines(text,
                  "$$\nS = \\frac{D}{\\sqrt{2}} = \\begin{bmatrix}  s & 0 &  s \\cr  s & s & 2s \\cr 2s & s "
                  "& 3s \\cr \\end{bmatrix} \\qquad [3, 3]\n$$\n"));
  CHECK(has_lines(text, "- $A_{1} = \\frac{[r, 1, r]}{2r + 1}$\n"));
  CHECK(has_lines(text, "- $r = e^{s} = e^{1/\\sqrt{2}} \\approx 2.028115$\n"));
  CHECK(has_lines(text, "| position |  value 1 |  value 2 |  value 3 |\n"
                        "| :--      |      --: |      --: |      --: |\n"
                        "| 1 red    | 0.401112 | 0.197776 | 0.401112 |\n"));
  CHECK(has_lines(text,
                  "- $O_{1,1} = \\frac{r \\times 1 + 1 \\times 1 + r \\times 2}{2r + 1} = \\frac{3r + 1}{2r "
                  "+ 1} \\approx 1.401112$\n"));
}

TEST_CASE("the chapter in LaTeX") {
  const std::string text = chapter(trace_format::latex);
  CHECK(text.starts_with("\\documentclass{article}\n\\usepackage{amsmath}\n"));
  CHECK(text.ends_with("\n\\end{document}\n"));
  CHECK(has_lines(text, "$\\displaystyle A_{3} = \\frac{[r, 1, r^{2}]}{r + 1 + r^{2}}$\\par\n"));
  CHECK(has_lines(text,
                  "D = Q K^{\\mathsf T} = \\begin{bmatrix}\n1 & 0 & 1 \\\\\n1 & 1 & 2 \\\\\n2 & 1 & 3 "
                  "\\\\\n\\end{bmatrix} \\qquad [3, 3]\n"));
  CHECK(has_lines(text, "2 key    & 0.248255 & 0.248255 & 0.503490 \\\\\n"));
}

// --- other heads -------------------------------------------------------------------------------------------

TEST_CASE("a perfect square is divided by its root, and r is e to a fraction") {
  const std::string text =
      trace(problem_of(R"({"Q": [[1, 2, 0, 1]], "K": [[1, 0, 1, 0], [0, 1, 0, 1]], "V": [[1], [2]]})"));
  CHECK(has_lines(text, "    √d_k = √4 = 2\nS [1, 2] = D/2 =\n    [ 0.5  1.5 ]\n"));
  CHECK(has_lines(text,
                  "    r = e^(1/2) ≈ 1.648721\n    e^S_1 = [r, r³] = r·[1, r²]\n    A_1 = [1, r²]/(1 + r²)\n "
                  "   1 + r² ≈ 3.718282\n"));
}

TEST_CASE("a width of one has neither s nor r") {
  const std::string text = trace(problem_of(R"({"Q": [[1]], "K": [[1], [-1]], "V": [[1], [2]]})"));
  CHECK(has_lines(text, "S [1, 2] = D =\n    [ 1  -1 ]\n"));
  CHECK(has_lines(text, "    e^S_1 = [e, e^(-1)] = e^(-1)·[e², 1]\n    A_1 = [e², 1]/(e² + 1)\n"));
  CHECK_FALSE(has(text, "r ="));
}

TEST_CASE("a given scale") {
  const std::string text =
      trace(problem_of(R"({"Q": [[3]], "K": [[1], [2]], "V": [[1], [1]], "scale": "1/8"})"));
  CHECK(has_lines(text, "    c = 0.125\nS [1, 2] = c D =\n    [ 0.375  0.75 ]\n"));
  CHECK(has_lines(text, "    A_1 = [1, e^0.375]/(1 + e^0.375)\n"));
  CHECK(has_lines(text, "    O[1,1] = (1×1 + e^0.375×1)/(1 + e^0.375) = 1\n"));
  CHECK(has_lines(text, "O [1, 1] = A V =\n    [ 1.000000 ]\n"));
}

TEST_CASE("a mask, cross-attention and fractions") {
  const std::string text = trace(problem_of(R"({
    "X": [["1/3", 1], [0, "2/7"]], "Y": [[1, "1/2", 0], [2, 1, 1], [0, 0, 1]], "WQ": [[1, 0, 1], [0, 1, 1]],
    "WK": [[1, 0, 0], [0, 1, 0], [0, 0, "1/3"]], "WV": [[1], [0], [-1]],
    "mask": [[true, false, true], [false, false, true]]})"));
  CHECK(has_lines(text, "Y [3, 3] =\n    [ 1  0.5  0 ]\n    [ 2    1  1 ]\n    [ 0    0  1 ]\n"));
  CHECK(has_lines(text, "M [2, 3] =\n    [ 1  0  1 ]\n    [ 0  0  1 ]\n"));
  CHECK(has_lines(text, "K [3, 3] = Y W_K =\n"));
  CHECK(has_lines(text, "    Q[1,3] = (1/3)×1 + 1×1 = 4/3\n"));
  CHECK(has_lines(text, "    V[3,1] = 0×1 + 0×0 + 1×(-1) = -1\n"));
  CHECK(has_lines(text, "S [2, 3] = D/√3 =\n    [ (5/6)s  -∞   (4/9)s ]\n    [     -∞  -∞  (2/21)s ]\n"));
  CHECK(has_lines(text, "    e^S_1 = [r^(5/6), 0, r^(4/9)] = r^(4/9)·[r^(7/18), 0, 1]\n"));
  CHECK(has_lines(text, "    A_2 = [0, 0, 1]\n"));
  CHECK(has_lines(text, "    2                0        0  1.000000\n"));
  CHECK(has_lines(text, "    O[2,1] = 1×(-1) = -1\n"));
}

TEST_CASE("floats are shown rounded, and marked") {
  const std::string text = trace(problem_of(floats));
  CHECK(has_lines(text, "Q [2, 2] ≈\n    [   0.100000  -0.25 ]\n    [ 0.00100000      2 ]\n"));
  CHECK(has_lines(text, "V [2, 2] ≈\n    [  0.100000  1 ]\n    [ -0.200000  1 ]\n"));
  CHECK(has_lines(text, "    D[1,1] ≈ 0.100000×0.700000 + (-0.25)×0.300000 ≈ -0.00500000\n"));
  CHECK(has(text, "S [2, 2] = D/√2 ≈\n"));
  CHECK(has_lines(text, "    O[1,2] ≈ (r^0.170000×1 + 1×1)/(r^0.170000 + 1) = 1\n"));
  // A number that is no float's worth of digits: nothing is longer than a dozen characters between spaces.
  CHECK_FALSE(has(text, "0.1000000000"));
  // With the decimals taken as they stand, all of them are short, and exact.
  const attest::problem exact = attest::io::read_case(floats, "case", attest::io::decimals::exact).problem;
  CHECK(has_lines(trace(exact), "Q [2, 2] =\n    [   1/10  -0.25 ]\n    [ 1/1000      2 ]\n"));
}

TEST_CASE("huge and tiny numbers take no pages") {
  const std::string text = trace(problem_of(
      R"({"Q": [[1e30]], "K": [[1e200], [-1e-200], [1]], "V": [["1e3000"], [1], ["1/12345678901234567"]]})"));
  CHECK(text.size() < 3000);
  CHECK(has(text, "1.00000e3000"));
  CHECK(has(text, "D [1, 3] = Q Kᵀ ≈\n    [ 1.00000e230  -1.00000e-170  1.00000e30 ]\n"));
  CHECK(has(text, "8.10000e-17"));  // 1/12345678901234567
  CHECK(longest_line(text) <= 80);
}

TEST_CASE("equal weights give exact outputs") {
  const std::string text =
      trace(problem_of(R"({"Q": [[0, 0]], "K": [[1, 1], [0, 1], [1, 2]], "V": [[1, 0], [1, 2], [2, 2]]})"));
  // 15.8, exercise 1: the zero query averages the values.
  CHECK(has_lines(text, "    A_1 = [1, 1, 1]/3\n"));
  CHECK(has_lines(text,
                  "    O[1,1] = (1×1 + 1×1 + 1×2)/3 = 4/3 ≈ 1.333333\n    O[1,2] = (1×0 + 1×2 + 1×2)/3 = 4/3 "
                  "≈ 1.333333\n"));
  CHECK(has_lines(text, "    1         0.333333  0.333333  0.333333\n"));
}

TEST_CASE("decimals as many as asked for") {
  const auto with = [](unsigned decimals) {
    return trace(problem_of(chapter_json), {trace_format::text, decimals, "", {}});
  };
  CHECK(has(with(0), "    1               0        0        0\n"));
  CHECK(has(with(2), "    1            0.40     0.20     0.40\n"));
  CHECK(has(with(2), ", to 2 decimals;"));
  CHECK(has(with(1), ", to 1 decimal;"));
  CHECK(has(with(20), "0.19777581464042817937"));  // 0.197775814640428179371979...
  // (1 - 0.19777581464042817937197910737757091669905...)/2
  CHECK(has(with(40), "    1         0.4011120926797859103140104463112145416505\n"));
}

TEST_CASE("large heads are cut with dots, and text fits 80 columns") {
  for (const auto& json :
       {head(3, 3, 9, 2), head(10, 10, 3, 3), head(20, 25, 12, 11), head(1, 40, 1, 1), head(17, 2, 2, 30)}) {
    CHECK(longest_line(trace(problem_of(json))) <= 80);
    CHECK(longest_line(trace(problem_of(json), {trace_format::ascii, 6, "", {}})) <= 80);
  }
  const std::string text = trace(problem_of(head(20, 25, 12, 11)));
  CHECK(has(text, "The other 497 elements follow in the same way.\n"));
  CHECK(has(text, "    ...            ...       ...       ...       ...       ...  ...       ...\n"));
  CHECK(has(text, " + … + "));
  CHECK(has(text, "D [20, 25] = Q Kᵀ =\n"));
  CHECK(has(text, "    e^S_20 = ["));
  CHECK_FALSE(has(text, "    e^S_9 = ["));
  CHECK(has(text, "value 25"));
}

TEST_CASE("columns that do not fit one below another") {
  const std::string text = trace(problem_of(head(2, 10, 2, 2)), {trace_format::text, 9, "", {}});
  CHECK(has(text, "    position      value 1"));
  CHECK(longest_line(text) <= 80);
  const std::string wide = trace(
      problem_of(R"({"Q": [[1]], "K": [[1]], "V": [[0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2]]})"));
  CHECK(has_lines(
      wide,
      "    columns 1 to 7:\n    [ 0.100000  0.200000  0.300000  0.400000  0.600000  0.700000  0.800000 ]\n"
      "    columns 8 to 10:\n    [ 0.900000  1.10000  1.20000 ]\n"));
}

// --- other people's words ----------------------------------------------------------------------------------

namespace {

const std::string unruly = "1. 50% of #1 {x} <y> \\ ~ ^ | $a_b$ *c* `d` & é 中\x07\n- end";
std::string with_words(trace_format format) {
  return trace(problem_of(chapter_json),
               {format, 6, unruly, {"a|b", "$_&%#{}", "a name that is too long for a table of weights"}});
}

}  // namespace

TEST_CASE("names and titles are set as they are, whatever they hold") {
  CHECK(
      has(with_words(trace_format::text), "1. 50% of #1 {x} <y> \\ ~ ^ | $a_b$ *c* `d` & é 中\\x07\\n- end"));
  CHECK(has(with_words(trace_format::text), "3 a name that is too lon.."));
  CHECK(has(
      with_words(trace_format::markdown),
      "\n1\\. 50% of \\#1 {x} \\<y\\> \\\\ \\~ ^ \\| \\$a\\_b\\$ \\*c\\* \\`d\\` & é 中\\\\x07\\\\n- end\n"));
  CHECK(has(with_words(trace_format::markdown), "| 1 a\\|b"));
  CHECK(has(with_words(trace_format::latex),
            "50\\% of \\#1 \\{x\\} $<$y$>$ \\textbackslash{} \\textasciitilde{} \\textasciicircum{} $|$ "
            "\\$a\\_b\\$"));
  CHECK(has(with_words(trace_format::latex), "é U+4E2D"));
}

TEST_CASE("Markdown is safe from sites that read it first") {
  for (const auto& json : {chapter_json, floats, head(20, 25, 12, 11)}) {
    std::istringstream in(trace(problem_of(json), {trace_format::markdown, 6, "", {}}));
    bool in_display = false;
    for (std::string line; std::getline(in, line);) {
      CAPTURE(line);
      if (line == "$$") {
        in_display = !in_display;
        continue;
      }
      // No backslash before punctuation, which Markdown would take away, and no line of mathematics that
      // opens a list.
      for (std::size_t at = line.find('\\'); at != std::string::npos; at = line.find('\\', at + 1))
        CHECK((std::isalpha(static_cast<unsigned char>(line[at + 1])) != 0));
      if (in_display) CHECK((std::isalpha(static_cast<unsigned char>(line[0])) != 0));
    }
    CHECK_FALSE(in_display);
  }
}

TEST_CASE("LaTeX compiles") {
  std::string compiler;
  for (const char* name : {"pdflatex", "lualatex"})
    if (compiler.empty() &&
        std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0)
      compiler = name;
  if (compiler.empty()) {
    std::cout << "note: neither pdflatex nor lualatex is here; that LaTeX compiles is left out\n";
    return;
  }
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() /
      ("attest-trace-" + std::to_string(std::hash<std::string>()(fs::current_path().string())));
  fs::create_directories(folder);
  int number = 0;
  for (const std::string& text :
       {with_words(trace_format::latex), trace(problem_of(floats), {trace_format::latex, 6, "", {}}),
        trace(problem_of(head(20, 25, 12, 11)), {trace_format::latex, 6, "", {}})}) {
    const std::string name = std::to_string(++number);
    std::ofstream(folder / (name + ".tex")) << text;
    const std::string command = "cd '" + folder.string() + "' && " + compiler +
                                " -interaction=nonstopmode -halt-on-error " + name + ".tex >" + name +
                                ".out 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream log(folder / (name + ".out"));
    INFO(std::string(std::istreambuf_iterator<char>(log), {}));
    CHECK(status == 0);
    CHECK(fs::exists(folder / (name + ".pdf")));
  }
  fs::remove_all(folder);
}

// -----------------------------------------------------------------------------------------------------------

TEST_CASE("inputs that do not fit each other are refused") {
  attest::problem p = problem_of(chapter_json);
  std::get<attest::projected_inputs>(p.inputs).wk =
      attest::make_exact_matrix(1, 2, {attest::unbounded_dyadic(1), attest::unbounded_dyadic(1)});
  CHECK_THROWS_AS(trace(p), attest::problem_error);
}
