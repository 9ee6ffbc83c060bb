#include "ui/models/short_text.h"

#include <algorithm>
#include <optional>
#include <vector>

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

struct Word {
    qsizetype begin, end;
    bool operator==(const Word&) const = default;
};

bool isWordStart(const QString& name, qsizetype at) {
    return at == 0 || (!name[at - 1].isLetterOrNumber() && name[at].isLetterOrNumber());
}

QStringList endingLike(const QString& name, const QString& end, const QStringList& beside) {
    QStringList alike;
    for (const QString& other : beside)
        if (other != name && other.endsWith(end)) alike << other;
    return alike;
}

/// Where the words of a name begin and end.
std::vector<Word> wordsOf(const QString& name) {
    std::vector<Word> words;
    for (qsizetype at = 0; at < name.size();) {
        qsizetype end = at;
        while (end < name.size() && name[end].isLetterOrNumber()) ++end;
        if (end > at) words.push_back({at, end});
        at = end + 1;
    }
    return words;
}

QStringView textOf(const QString& name, const Word& word) {
    return QStringView(name).mid(word.begin, word.end - word.begin);
}

/// Whether the words that are shown of a name stand at the same places in another one, which ends alike, too.
bool looksLike(const QString& other, const QString& name, const std::vector<Word>& shown, const QString& end) {
    if (!other.endsWith(end)) return false;
    const std::vector<Word> words = wordsOf(name), others = wordsOf(other);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (std::ranges::find(shown, words[i]) == shown.end()) continue;
        if (i >= others.size() || textOf(name, words[i]) != textOf(other, others[i])) return false;
    }
    return true;
}

/// The first word of a name that stands at its place in it and not at that of another name, but for those shown.
std::optional<Word> nextDifference(const QString& name, const QString& other, const std::vector<Word>& shown) {
    const std::vector<Word> words = wordsOf(name), others = wordsOf(other);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool differs = i >= others.size() || textOf(name, words[i]) != textOf(other, others[i]);
        if (differs && std::ranges::find(shown, words[i]) == shown.end()) return words[i];
    }
    return std::nullopt;
}

/// Words of a name with as much of its end as there is room for; empty if there is room for none of it.
QString wordsAndEnd(const QString& name, const std::vector<Word>& words,
                    const std::function<bool(const QString&)>& fits, QString& end) {
    QString head;
    qsizetype last = 0;
    for (const Word& word : words) {
        // What stands beside each other needs no sign of what is left out.
        if (word.begin == last + 1 && !head.isEmpty()) head += name[last];
        else if (word.begin > 0) head += QChar(0x2026);
        head += textOf(name, word);
        last = word.end;
    }
    for (qsizetype at = last + 1; at < name.size(); ++at) {
        if (!isWordStart(name, at)) continue;
        end = name.mid(at);
        if (const QString told = head + (at == last + 1 ? name[last] : QChar(0x2026)) + end; fits(told)) return told;
    }
    return {};
}

/// Names that end alike differ somewhere before: the words that differ, and as much of the end as has room.
QString differencesAndEnd(const QString& name, qsizetype differs, const QStringList& beside,
                          const std::function<bool(const QString&)>& fits) {
    const std::vector<Word> words = wordsOf(name);
    const auto first = std::ranges::find_if(words, [differs](const Word& word) { return word.end > differs; });
    if (first == words.end()) return {};
    std::vector<Word> shown{*first};
    QString best;
    constexpr std::size_t kMaxWords = 4;
    while (shown.size() <= kMaxWords) {
        QString end;
        const QString told = wordsAndEnd(name, shown, fits, end);
        if (told.isEmpty()) return best;
        best = told;
        const auto alike = std::ranges::find_if(
            beside, [&](const QString& other) { return other != name && looksLike(other, name, shown, end); });
        if (alike == beside.end()) return best;
        const std::optional<Word> more = nextDifference(name, *alike, shown);
        if (!more || more->end > name.size() - end.size()) return best;
        shown.insert(std::ranges::lower_bound(shown, more->begin, {}, &Word::begin), *more);
    }
    return best;
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
    return differencesAndEnd(name, differs, beside, fits);
}

QString brief(std::string_view text) { return elided(shown(text), 60); }

}  // namespace sonde::models
