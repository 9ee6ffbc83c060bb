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

namespace {

/// How much of a name is what the nearest of the others begin with too.
qsizetype sharedStart(const QString& name, const QStringList& beside) {
    qsizetype shared = 0;
    for (const QString& other : beside) {
        const auto end = std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first;
        shared = std::max(shared, static_cast<qsizetype>(end - name.begin()));
    }
    return shared;
}

bool isWordStart(const QString& name, qsizetype at) {
    return at == 0 || (!name[at - 1].isLetterOrNumber() && name[at].isLetterOrNumber());
}

QStringList endingLike(const QString& name, const QString& end, const QStringList& beside) {
    QStringList alike;
    for (const QString& other : beside)
        if (other != name && other.endsWith(end)) alike << other;
    return alike;
}

/// Two names that end alike differ somewhere before: the word that differs, and as much of the end as has room.
QString differenceAndEnd(const QString& name, qsizetype differs, const std::function<bool(const QString&)>& fits) {
    if (name.isEmpty()) return {};
    qsizetype from = std::min(differs, name.size() - 1), to = from;
    while (!isWordStart(name, from)) --from;
    while (to < name.size() && name[to].isLetterOrNumber()) ++to;
    const QString head = (from > 0 ? QString(QChar(0x2026)) : QString()) + name.mid(from, to - from);
    for (qsizetype at = to + 1; at < name.size(); ++at)
        if (const QString told = head + QChar(0x2026) + name.mid(at); isWordStart(name, at) && fits(told)) return told;
    return {};
}

}  // namespace

QString withoutSharedStart(const QString& name, const QStringList& beside) {
    constexpr qsizetype kMinSaved = 4;
    qsizetype shared = sharedStart(name, beside);
    // Words end at signs: what is cut in a word cannot be read.
    while (shared > 0 && (shared == name.size() || name[shared - 1].isLetterOrNumber())) --shared;
    return shared < kMinSaved ? name : QChar(0x2026) + name.mid(shared);
}

QString toldApart(const QString& name, const QStringList& beside, const std::function<bool(const QString&)>& fits) {
    if (fits(name)) return name;
    for (qsizetype at = 1; at < name.size(); ++at) {
        const QString end = name.mid(at), told = QChar(0x2026) + end;
        if (!isWordStart(name, at) || !fits(told)) continue;
        const QStringList alike = endingLike(name, end, beside);
        return alike.isEmpty() ? told : withoutSharedStart(name, alike);
    }
    return withoutSharedStart(name, beside);
}

QString fittedApart(const QString& name, const QStringList& beside, const std::function<bool(const QString&)>& fits) {
    const QString told = toldApart(name, beside, fits);
    if (fits(told)) return told;
    qsizetype at = 1;
    while (at < name.size() && (!isWordStart(name, at) || !fits(QChar(0x2026) + name.mid(at)))) ++at;
    const qsizetype differs = sharedStart(name, endingLike(name, name.mid(at), beside));
    // The number of a block may be all that differs: a part of a word is enough to tell it.
    if (const QString part = QChar(0x2026) + name.mid(differs); differs > 0 && fits(part)) return part;
    return differenceAndEnd(name, differs, fits);
}

QString brief(std::string_view text) { return elided(shown(text), 60); }

}  // namespace sonde::models
