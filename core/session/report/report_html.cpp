#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

#include "core/base/xml_text.h"
#include "core/session/report/report.h"

namespace sonde::session {

namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --dim: #566170; --line: #d8dee6; --paper: #ffffff; --soft: #f4f6f9; --bar: #3b6ea8;
  --link: #24558a; --error: #b3261e; --warning: #7a5000; --info: #2f5f8f; --accepted: #566170; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ef; --dim: #a3aebc; --line: #38424f; --paper: #161b22; --soft: #1f2630;
  --bar: #6fa3dc; --link: #8fc1f2; --error: #ff8a80; --warning: #ffc65c; --info: #8fc1f2; --accepted: #a3aebc; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1100px; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { margin: 0; font-size: 28px; overflow-wrap: anywhere; } .subtitle { margin: 0; color: var(--dim); overflow-wrap: anywhere; }
h2 { margin: 36px 0 8px; font-size: 20px; border-bottom: 1px solid var(--line); }
a { color: var(--link); } nav { margin: 20px 0; padding: 12px 16px; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
nav h2 { margin: 0 0 4px; font-size: 15px; border: none; } nav ol { margin: 0; padding-left: 22px; columns: 180px; }
.wide { overflow-x: auto; margin: 8px 0; } .wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
caption { text-align: left; margin: 12px 0 6px; font-weight: 600; font-size: 15px; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); vertical-align: top; text-align: left; overflow-wrap: anywhere; }
thead th { color: var(--dim); font-weight: 600; overflow-wrap: normal; } tbody th { font-weight: 400; color: var(--dim); width: 220px; }
tbody tr:hover { background: var(--soft); }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.note { color: var(--dim); font-size: 13px; } figure { margin: 12px 0; } figcaption { font-weight: 600; font-size: 15px; margin-bottom: 6px; }
.graph { overflow: auto; max-height: 900px; border: 1px solid var(--line); background: #ffffff; } .graph svg { display: block; max-width: 100%; height: auto; margin: 0 auto; } .paper { display: none; }
.finding { border-left: 4px solid var(--line); background: var(--soft); padding: 6px 12px; margin: 8px 0; }
.finding p { margin: 2px 0; overflow-wrap: anywhere; } .finding .head { font-weight: 600; }
.finding ul { margin: 4px 0; padding-left: 20px; font-size: 13px; overflow-wrap: anywhere; } .finding summary { cursor: pointer; font-size: 13px; color: var(--link); }
.error { border-color: var(--error); } .error .severity { color: var(--error); } .warning { border-color: var(--warning); }
.warning .severity { color: var(--warning); } .info { border-color: var(--info); } .info .severity { color: var(--info); }
.accepted { border-color: var(--accepted); } .accepted .severity { color: var(--accepted); }
svg.chart { display: block; max-width: 100%; height: auto; } .chart text { font: 12px system-ui, sans-serif; fill: var(--ink); } .chart rect { fill: var(--bar); }
@page { size: A4; margin: 16mm 14mm; @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; } }
@media print {
  :root { color-scheme: light; --ink: #000000; --dim: #444444; --line: #bbbbbb; --paper: #ffffff; --soft: #ffffff; --bar: #555555;
    --link: #000000; --error: #000000; --warning: #000000; --info: #000000; --accepted: #444444; }
  body { max-width: none; padding: 0; font-size: 10pt; } h1 { font-size: 18pt; } h2 { font-size: 14pt; break-after: avoid; }
  table { font-size: 8pt; line-height: 1.25; } th, td { padding: 1px 4px; } thead { display: table-header-group; } caption { break-after: avoid; }
  table.long { font-size: 6.5pt; line-height: 1.15; }
  p { margin: 4pt 0; break-inside: avoid; } h2 { margin-top: 16pt; } thead, figcaption, h2 + p, p:has(+ .wide) { break-after: avoid; }
  .wide:not(:has(tbody tr:nth-child(16))) { break-inside: avoid; } table:has(tbody tr:nth-child(16)) tr:nth-child(-n+3) { break-after: avoid; }
  table:has(tbody tr:nth-child(16)) tr:nth-last-child(-n+3) { break-before: avoid; }
  tr, .finding, figure { break-inside: avoid; } .finding:has(li) { break-inside: auto; } .finding .head { break-after: avoid; } .wide { overflow: visible; }
  td.number, th.number { white-space: normal; } .graph { overflow: visible; max-height: none; border: none; }
  .finding ul { margin: 0; font-size: 7.5pt; line-height: 1.25; } .finding ul.places { columns: 2; }
  .graph svg { min-width: 0 !important; max-height: 205mm; } .low .graph svg { max-height: 180mm; } .paper { display: block; } figure.tall { break-inside: auto; } .tall .graph svg { max-height: none; }
  .tall .graph:not(.paper) { display: none; } nav a { text-decoration: none; }
  details::details-content { content-visibility: visible; block-size: auto; } summary { display: none; }
}
)";

/// An attribute of the <svg> element; 0 without.
double numberOf(std::string_view svg, std::string_view name) {
    svg = svg.substr(0, svg.find('>'));
    const std::size_t at = svg.find(name);
    double number = 0;
    if (at != std::string_view::npos) std::from_chars(svg.data() + at + name.size(), svg.data() + svg.size(), number);
    return number;
}

/// Units of the smallest text of a picture of a graph, and what is wide and high on paper, in points, as in the style:
/// with its headings a picture takes a page of Letter or A4.
constexpr double kSmallText = 9, kPaperWidth = 182 / 25.4 * 72, kPaperHeight = 205 / 25.4 * 72;
/// Less, so that some text has room on the same page; and more, for what is alone on one. Also of Letter, in points.
constexpr double kLowHeight = 180 / 25.4 * 72, kPageHeight = 235 / 25.4 * 72;
/// Points that text has to have to be read on paper, and how far a picture may be shrunk on a screen.
constexpr double kLegible = 5, kMinScale = 0.8;

/// It could not be read on one printed page: it goes on over several.
bool isTall(std::string_view svg) {
    const double width = numberOf(svg, " width=\""), height = numberOf(svg, " height=\"");
    return width > 0 && height * kPaperWidth > width * kPaperHeight && kSmallText * kPaperHeight < kLegible * height;
}

/// It can be read where it leaves some of a page to text: a page with little text on it is not left to that alone.
bool isLow(std::string_view svg) { return kSmallText * kLowHeight >= kLegible * numberOf(svg, " height=\""); }

/// A tall picture on paper: parts that have a page each, the first one with headings above. Browsers would cut it where
/// a page ends, and leave its headings on the page before. A part begins with the end of the one before, so that each
/// card is whole in one of them.
std::string partsOf(std::string_view svg, const std::string& id) {
    constexpr double kShared = 64, kPointsByUnit = 0.75;  // units of the picture; an unscaled one is in CSS pixels
    const double width = numberOf(svg, " width=\""), height = numberOf(svg, " height=\"");
    const double scale = std::min(kPointsByUnit, kPaperWidth / width);
    std::string parts = "<div class=\"graph paper\" aria-hidden=\"true\">";
    for (double top = 0, room = kPaperHeight / scale; top < height - (top > 0 ? kShared : 0);
         top += room - kShared, room = kPageHeight / scale) {
        const double part = std::min(room, height - top);
        parts += fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {:.1f} {} {:.1f}\" width=\"{}\" "
            "height=\"{:.1f}\"><use href=\"#{}\"/></svg>",
            top, width, part, width, part, id);
    }
    return parts + "</div>";
}

/// Equal findings that are listed without asking.
constexpr std::size_t kListedEach = 5;

/// Text between tags, and in attributes.
std::string escaped(std::string_view text) { return base::xmlText(text); }

void addNote(std::string& html, const std::string& note) {
    if (!note.empty()) html += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
}

/// Writes the blocks.
struct BlockWriter {
    std::string& html;

    void operator()(const ReportText& block) const { html += fmt::format("<p>{}</p>\n", escaped(block.text)); }

    void operator()(const ReportTable& table) const {
        if (table.rows.empty()) return;
        // What is wider than the window is reached by the keyboard too.
        html += fmt::format("<div class=\"wide\" tabindex=\"0\"><table{}>\n", table.isLong() ? " class=\"long\"" : "");
        if (!table.title.empty()) html += fmt::format("<caption>{}</caption>\n", escaped(table.title));
        html += "<thead><tr>";
        for (const ReportTable::Column& column : table.columns) {
            const char* const kind = column.isNumber ? " class=\"number\"" : "";
            // A head without a name is no head of anything.
            if (column.title.empty()) html += fmt::format("<td{}></td>", kind);
            else html += fmt::format("<th scope=\"col\"{}>{}</th>", kind, escaped(column.title));
        }
        html += "</tr></thead>\n<tbody>\n";
        for (const std::vector<std::string>& row : table.rows) addRow(table, row);
        html += "</tbody></table></div>\n";
        addNote(html, table.note);
    }

    void addRow(const ReportTable& table, const std::vector<std::string>& row) const {
        html += "<tr>";
        for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
            if (i == 0 && table.areRowsNamed) html += fmt::format("<th scope=\"row\">{}</th>", escaped(row[i]));
            else
                html +=
                    fmt::format("<td{}>{}</td>", table.columns[i].isNumber ? " class=\"number\"" : "", escaped(row[i]));
        }
        html += "</tr>\n";
    }

    void operator()(const ReportChart& chart) const {
        if (chart.bars.empty()) return;
        constexpr int kRow = 20, kLabel = 240, kBar = 480, kWidth = 860;
        double most = 0;
        for (const ReportChart::Bar& bar : chart.bars) most = std::max(most, bar.value);
        const auto height = static_cast<int>(chart.bars.size()) * kRow + 4;
        html += fmt::format(
            "<figure><figcaption>{}</figcaption>\n<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}: {} bars\">\n",
            escaped(chart.title), kWidth, height, kWidth, height, escaped(chart.title), chart.bars.size());
        int top = 2;
        for (const ReportChart::Bar& bar : chart.bars) {
            const double width = most > 0 ? std::max(1.0, kBar * bar.value / most) : 0;
            const std::string label = shortened(bar.label);
            html += fmt::format(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" "
                "height=\"{}\"><title>{}</title></rect><text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                kLabel - 8, top + 14, escaped(label), kLabel, top + 3, width, kRow - 6, escaped(bar.label),
                kLabel + width + 6, top + 14, escaped(bar.text));
            top += kRow;
        }
        html += "</svg></figure>\n";
        addNote(html, chart.note);
    }

    void operator()(const ReportPicture& picture) const {
        // What stands before the element in a file of its own has no place here.
        const std::size_t begin = picture.svg.find("<svg"), end = picture.svg.rfind("</svg>");
        if (begin == std::string::npos || end == std::string::npos || end < begin) return;
        std::string svg = picture.svg.substr(begin, end - begin);
        const double width = numberOf(svg, " width=\"");
        // In a narrow window it is scrolled rather than shrunk until nobody can read it.
        const bool goesOn = isTall(svg);
        const std::string id = fmt::format("picture-{}", html.size());  // of this report alone
        std::string attributes = goesOn ? fmt::format(" id=\"{}\"", id) : std::string();
        if (width > 0) attributes += fmt::format(" style=\"min-width: {:.0f}px\"", kMinScale * width);
        svg.insert(4, attributes);
        html += fmt::format(
            "<figure{}><figcaption>{}</figcaption>\n<div class=\"graph\" role=\"img\" aria-label=\"{}\" tabindex=\"0\">{}</svg></div>",
            goesOn       ? " class=\"tall\""
            : isLow(svg) ? " class=\"low\""
                         : "",
            escaped(picture.title), escaped(picture.title), svg);
        if (goesOn) html += partsOf(svg, id);
        if (const double size = kSmallText * kPaperWidth / std::max(width, 1.0); size < kLegible)
            html += fmt::format(
                "<p class=\"note paper\">Reduced to the width of the page: its smallest text has {:.1f} points. A "
                "screen shows it in full size, and a report as PDF in parts.</p>",
                size);
        html += "</figure>\n";
    }

    void operator()(const ReportFindings& block) const {
        for (const ReportFinding& finding : block.findings) {
            const std::string places = finding.places.empty() ? std::string() : ": " + finding.places;
            html += fmt::format(
                "<div class=\"finding {}\"><p class=\"head\"><span class=\"severity\">{}</span> {}{}</p>\n"
                "<p>{}</p>\n",
                finding.accepted.empty() ? escaped(finding.severity) : "accepted",
                finding.accepted.empty() ? escaped(finding.severity) : "accepted (" + escaped(finding.severity) + ")",
                escaped(finding.id), escaped(places), escaped(finding.message));
            addEach(finding);
            html += fmt::format("<p>What to do: {}</p>\n", escaped(finding.advice));
            if (!finding.accepted.empty()) html += fmt::format("<p>Accepted: {}</p>\n", escaped(finding.accepted));
            html += fmt::format("<p class=\"note\">confidence: {}</p></div>\n", escaped(finding.confidence));
        }
        addNote(html, block.note);
    }

    void addEach(const ReportFinding& finding) const {
        const auto item = [this](const std::pair<std::string, std::string>& one) {
            html += fmt::format("<li>{}{}{}</li>\n", escaped(one.first), one.second.empty() ? "" : ": ",
                                escaped(one.second));
        };
        if (finding.each.empty()) return;
        const std::size_t listed = std::min(finding.each.size(), kListedEach);
        // Places alone are short.
        const bool arePlaces = std::ranges::all_of(finding.each, [](const auto& one) { return one.second.empty(); });
        const char* const list = arePlaces ? "<ul class=\"places\">\n" : "<ul>\n";
        html += list;
        std::for_each_n(finding.each.begin(), listed, item);
        html += "</ul>\n";
        if (listed == finding.each.size()) return;
        html += fmt::format("<details><summary>{} more</summary>\n{}", finding.each.size() - listed, list);
        std::for_each(finding.each.begin() + static_cast<std::ptrdiff_t>(listed), finding.each.end(), item);
        html += "</ul></details>\n";
    }

    /// Its end, which tells more than its beginning; by whole characters of UTF-8.
    static std::string shortened(const std::string& label) {
        constexpr std::size_t kMaxLabel = 34;
        if (label.size() <= kMaxLabel) return label;
        std::size_t begin = label.size() - kMaxLabel;
        while (begin < label.size() && (static_cast<unsigned char>(label[begin]) & 0xc0U) == 0x80U) ++begin;
        return "\u2026" + label.substr(begin);
    }
};

}  // namespace

std::string reportHtml(const Report& report) {
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}: {}</title>\n<style>{}</style>\n"
        "</head>\n<body>\n<header>\n<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n",
        escaped(report.subtitle), escaped(report.title), kStyle, escaped(report.title), escaped(report.subtitle));
    for (const std::string& text : {report.source, report.maker})
        if (!text.empty()) html += fmt::format("<p class=\"subtitle\">{}</p>\n", escaped(text));
    html += "</header>\n<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">Contents</h2>\n<ol>\n";
    for (const ReportSection& section : report.sections)
        html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escaped(section.title));
    html += "</ol>\n</nav>\n<main>\n";
    for (const ReportSection& section : report.sections) {
        html += fmt::format("<section id=\"{}\" aria-labelledby=\"{}-title\">\n<h2 id=\"{}-title\">{}</h2>\n",
                            section.id, section.id, section.id, escaped(section.title));
        for (const ReportBlock& block : section.blocks) std::visit(BlockWriter{html}, block);
        html += "</section>\n";
    }
    return html + "</main>\n</body>\n</html>\n";
}

}  // namespace sonde::session
