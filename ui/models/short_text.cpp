#include "ui/models/short_text.h"

#include "core/base/unicode.h"
#include "ui/context/text.h"

namespace sonde::models {
namespace {

constexpr qsizetype kMaxTextLength = 300;

/// The beginning and the end, where names differ, with "…" between.
QString elided(const QString& text, qsizetype most) {
    if (text.size() <= most) return text;
    qsizetype head = most * 3 / 5, tail = text.size() - (most - head - 1);
    if (text[head].isLowSurrogate()) --head;
    if (text[tail].isLowSurrogate()) ++tail;
    return text.left(head) + QChar(0x2026) + text.mid(tail);
}

}  // namespace

QString oneLine(const QString& text) {
    QString whole = elided(text, kMaxTextLength);
    for (QChar& c : whole) {
        const QChar::Category kind = c.category();
        const bool breaks =
            kind == QChar::Other_Control || kind == QChar::Separator_Line || kind == QChar::Separator_Paragraph;
        // Embeddings, overrides and isolates would turn the text that follows the name as well.
        const bool turns = (c >= QChar(0x202a) && c <= QChar(0x202e)) || (c >= QChar(0x2066) && c <= QChar(0x2069));
        if (breaks || turns) c = u' ';
    }
    return whole;
}

QString shown(std::string_view text) {
    // Four bytes make a character at most; what is between is not decoded, a hostile file may hold megabytes.
    constexpr std::size_t kEdge = 4 * kMaxTextLength;
    if (text.size() <= 2 * kEdge) return oneLine(context::text(text));
    return oneLine(context::text(base::utf8Prefix(text, kEdge)) + context::text(base::utf8Suffix(text, kEdge)));
}

QString brief(std::string_view text) { return elided(shown(text), 60); }

}  // namespace sonde::models
