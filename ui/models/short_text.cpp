#include "ui/models/short_text.h"

#include <algorithm>

#include "core/base/unicode.h"
#include "ui/context/text.h"

namespace sonde::models {
namespace {

constexpr qsizetype kMaxTextLength = 300, kMaxParagraph = 2000;

/// The beginning and the end, where names differ, with "…" between.
QString elided(const QString& text, qsizetype most) {
    if (text.size() <= most) return text;
    qsizetype head = most * 3 / 5, tail = text.size() - (most - head - 1);
    if (text[head].isLowSurrogate()) --head;
    if (text[tail].isLowSurrogate()) ++tail;
    return text.left(head) + QChar(0x2026) + text.mid(tail);
}

QString cleaned(const QString& text, qsizetype most) {
    QString whole = elided(text, most);
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

/// Four bytes make a character at most; what is between is not decoded, a hostile file may hold megabytes.
QString cleanedBytes(std::string_view text, qsizetype most) {
    const auto edge = static_cast<std::size_t>(4 * most);
    if (text.size() <= 2 * edge) return cleaned(context::text(text), most);
    return cleaned(context::text(base::utf8Prefix(text, edge)) + context::text(base::utf8Suffix(text, edge)), most);
}

}  // namespace

QString oneLine(const QString& text) { return cleaned(text, kMaxTextLength); }
QString shown(std::string_view text) { return cleanedBytes(text, kMaxTextLength); }
QString paragraph(std::string_view text) { return cleanedBytes(text, kMaxParagraph); }

QString withoutSharedStart(const QString& name, const QStringList& beside) {
    constexpr qsizetype kMinSaved = 4;
    qsizetype shared = 0;
    for (const QString& other : beside) {
        const auto end = std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first;
        shared = std::max(shared, static_cast<qsizetype>(end - name.begin()));
    }
    // Words end at signs: what is cut in a word cannot be read.
    while (shared > 0 && (shared == name.size() || name[shared - 1].isLetterOrNumber())) --shared;
    return shared < kMinSaved ? name : QChar(0x2026) + name.mid(shared);
}

QString toldApart(const QString& name, const QStringList& beside, const std::function<bool(const QString&)>& fits) {
    if (fits(name)) return name;
    for (qsizetype at = 1; at < name.size(); ++at) {
        if (name[at - 1].isLetterOrNumber() || !name[at].isLetterOrNumber()) continue;
        const QString end = name.mid(at), told = QChar(0x2026) + end;
        if (!fits(told)) continue;
        QStringList alike;
        for (const QString& other : beside)
            if (other != name && other.endsWith(end)) alike << other;
        return alike.isEmpty() ? told : withoutSharedStart(name, alike);
    }
    return withoutSharedStart(name, beside);
}

QString brief(std::string_view text) { return elided(shown(text), 60); }

}  // namespace sonde::models
