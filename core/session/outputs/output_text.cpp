// What forms give, as lines of text.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/base/visible_text.h"
#include "core/session/outputs/forms.h"
#include "core/session/outputs/show_outputs.h"

namespace sonde::session::outputs {

namespace {

using Lines = std::vector<std::string>;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string shortNumber(double value) {
    constexpr int kDigits = 5;
    return base::roundedText(value, kDigits);
}

std::string classText(std::int64_t index, const std::string& name) {
    return name.empty() ? "class " + std::to_string(index) : base::visibleText(name);
}

Lines linesOf(std::monostate) { return {}; }
std::string summaryOf(std::monostate) { return {}; }

Lines linesOf(const Classes& classes) {
    std::vector<Lines> rows;
    for (const ClassScore& each : classes.top)
        rows.push_back({std::to_string(each.index), classes.hasShares ? percent(each.share) : "",
                        shortNumber(each.value), classText(each.index, each.name)});
    return base::alignedRows(rows);
}
std::string summaryOf(const Classes& classes) {
    return fmt::format("of {} classes; {}", base::countText(classes.count), classes.scale);
}

std::string tokenText(const TokenText::Token& token) {
    return token.text.empty() ? std::to_string(token.id)
                              : std::to_string(token.id) + " '" + base::visibleText(token.text) + "'";
}

Lines linesOf(const TokenText& text) {
    constexpr std::size_t kMaxIds = 64;
    Lines lines;
    if (!text.text.empty()) lines.push_back("\"" + base::visibleText(text.text) + "\"");
    std::string ids;
    for (std::size_t i = 0; i < text.tokens.size() && i < kMaxIds; ++i)
        ids += (i ? " " : "") + std::to_string(text.tokens[i].id);
    const std::int64_t more = text.count - static_cast<std::int64_t>(kMaxIds);
    lines.push_back("ids " + ids + (more > 0 ? " and " + base::countText(more) + " more" : ""));
    for (const TokenText::Token& token : text.next)
        lines.push_back("next " + tokenText(token) + "  " + percent(token.share));
    return lines;
}
std::string summaryOf(const TokenText& text) {
    return base::countText(text.count) + (text.isFromLogits ? " positions; the most likely token at each" : " tokens");
}

Lines linesOf(const ImagePixels&) { return {}; }
std::string summaryOf(const ImagePixels& image) {
    return fmt::format("{} × {} pixels, {} channel{}; black is {}, white {}", image.width, image.height, image.channels,
                       image.channels == 1 ? "" : "s", shortNumber(image.low), shortNumber(image.high));
}

Lines linesOf(const Boxes& boxes) {
    std::vector<Lines> rows;
    const auto pixel = [](double at) { return fmt::format("{:.1f}", at); };
    for (const Boxes::Box& box : boxes.boxes)
        rows.push_back({pixel(box.left), pixel(box.top), pixel(box.right), pixel(box.bottom),
                        std::isnan(box.score) ? "" : fmt::format("{:.3f}", box.score),
                        box.index < 0 ? "" : classText(box.index, box.name)});
    return base::alignedRows(rows);
}
std::string summaryOf(const Boxes& boxes) {
    return fmt::format("{} of {} boxes; left, top, right, bottom in pixels, score, class; read as {}",
                       base::countText(boxes.passing), base::countText(boxes.count), boxes.layout);
}

Lines linesOf(const Masks& masks) {
    std::vector<Lines> rows;
    for (const Masks::Part& part : masks.parts) rows.push_back({percent(part.share), classText(part.index, part.name)});
    return base::alignedRows(rows);
}
std::string summaryOf(const Masks& masks) {
    return fmt::format("of {} × {} pixels; {}", masks.width, masks.height, masks.rule);
}

Lines linesOf(const Waveform&) { return {}; }
std::string summaryOf(const Waveform& wave) {
    const std::int64_t length = wave.samples.dim(1);
    std::string text =
        fmt::format("{} channel{}, {} samples from {} to {}", wave.samples.dim(0), wave.samples.dim(0) == 1 ? "" : "s",
                    base::countText(length), shortNumber(wave.low), shortNumber(wave.high));
    if (wave.rate > 0) text += fmt::format(", {:.2f} s", static_cast<double>(length) / static_cast<double>(wave.rate));
    return text;
}

Lines linesOf(const Scalar& scalar) {
    return {base::visibleText(scalar.text) + (scalar.note.empty() ? "" : "  (" + scalar.note + ")")};
}

std::string summaryOf(const Scalar&) { return {}; }

// A terminal is no place for all of a table.
constexpr std::int64_t kPrintedRows = 10, kPrintedColumns = 10;

Lines linesOf(const Table& table) {
    std::vector<Lines> rows;
    for (std::size_t r = 0; r < table.rows.size() && r < kPrintedRows; ++r) {
        Lines& row = rows.emplace_back();
        for (std::size_t c = 0; c < table.rows[r].size() && c <= kPrintedColumns; ++c)
            row.push_back(base::visibleText(table.rows[r][c]));
    }
    return base::alignedRows(rows);
}
std::string summaryOf(const Table& table) {
    return fmt::format("{} row{}, {} column{}", base::countText(table.rowCount), table.rowCount == 1 ? "" : "s",
                       base::countText(table.columnCount), table.columnCount == 1 ? "" : "s");
}

/// Which one of a batch the lines are of; nothing if there is one alone.
std::string sampleNote(const ShownOutput& shown) {
    if (!shown.form || !shown.form->usesSample || shown.samples < 2) return {};
    const std::int64_t chosen = shown.choice.sample, last = shown.samples - 1;
    const std::string range = fmt::format("of {}, 0 to {}", base::countText(shown.samples), base::countText(last));
    if (chosen > last)
        return fmt::format("there is no sample {}: sample {} is shown, {}", base::countText(chosen),
                           base::countText(last), range);
    return fmt::format("sample {} is shown, {}; {}:sample=N shows another", base::countText(chosen), range,
                       shown.form->id);
}

}  // namespace

std::string summaryText(const Content& content) {
    return base::visibleText(std::visit([](const auto& each) { return summaryOf(each); }, content));
}

std::vector<std::string> textLines(const ShownOutput& shown) {
    if (!shown.shownWith.empty()) return {"shown with the boxes of '" + base::visibleText(shown.shownWith) + "'"};
    Lines lines;
    if (shown.error) lines.push_back(shown.error->text());
    else lines = std::visit([](const auto& content) { return linesOf(content); }, shown.content);
    if (const std::string summary = summaryText(shown.content); !summary.empty()) lines.push_back(summary);
    std::vector<std::string> notes = shown.notes;
    if (const Table* const table = std::get_if<Table>(&shown.content)) {
        // What the form says of the rows that it made is not true of those that are printed.
        const auto cut = [&](std::int64_t rows, std::int64_t columns) {
            return cutNote(*table, std::min(rows, table->rowCount), std::min(columns, table->columnCount));
        };
        std::erase(notes, cut(Table::kMaxRows, Table::kMaxColumns));
        if (std::string note = cut(kPrintedRows, kPrintedColumns); !note.empty()) notes.push_back(std::move(note));
    }
    if (std::string note = sampleNote(shown); !note.empty() && !shown.error) notes.push_back(std::move(note));
    for (const std::string& note : notes) lines.push_back("note: " + base::visibleText(note));
    return lines;
}

}  // namespace sonde::session::outputs
