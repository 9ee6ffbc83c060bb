#include "ui/theme/elided_text.h"

#include <QFontMetrics>

#include <algorithm>
#include <vector>

namespace sonde::theme {

namespace {

constexpr QChar kEllipsis(0x2026);
constexpr qsizetype kMaxLooked = 4096;  ///< a name may be megabytes long: what could never fit is not looked at

bool isDigit(QStringView text, qsizetype at) {
    return at >= 0 && at < text.size() && text[at] >= u'0' && text[at] <= u'9';
}

/// "12.5", and "1,024" but not the sizes of "[1,1024]": a comma between digits with three behind it.
bool isPointAt(QStringView text, qsizetype at) {
    if (at <= 0 || at >= text.size() || !isDigit(text, at - 1) || !isDigit(text, at + 1)) return false;
    if (text[at] == u'.') return true;
    return text[at] == u',' && isDigit(text, at + 2) && isDigit(text, at + 3) && !isDigit(text, at + 4);
}

bool isSign(QChar c) { return c == u'-' || c == u'+' || c == QChar(0x2212); }

/// The 'e' of "9.0e+15" and "1e6".
bool isExponentAt(QStringView text, qsizetype at) {
    if (at <= 0 || at + 1 >= text.size() || text[at].toLower() != u'e') return false;
    const bool isBehindNumber = isDigit(text, at - 1) || text[at - 1] == u'.';
    return isBehindNumber && (isDigit(text, at + 1) || (isSign(text[at + 1]) && isDigit(text, at + 2)));
}

/// Whether a cut before `at` leaves every number and every character whole.
bool isCut(QStringView text, qsizetype at) {
    if (at <= 0 || at >= text.size()) return true;
    const QChar before = text[at - 1], after = text[at];
    if (before.isHighSurrogate() && after.isLowSurrogate()) return false;
    if (isDigit(text, at))
        return !isDigit(text, at - 1) && !isPointAt(text, at - 1) && !isSign(before) && !isExponentAt(text, at - 1) &&
               before != u'.';
    if (isSign(after)) return !isExponentAt(text, at - 1);
    return !isPointAt(text, at) && !isExponentAt(text, at);
}

/// The last cut up to `most`, or the first from `least` on.
qsizetype cutBefore(QStringView text, qsizetype most) {
    while (!isCut(text, most)) --most;
    return most;
}
qsizetype cutAfter(QStringView text, qsizetype least) {
    while (!isCut(text, least)) ++least;
    return least;
}

/// The longest beginning, or end, of at most `most` characters that fits, before its last number is looked at.
qsizetype fitting(qsizetype most, double room, const std::function<double(qsizetype)>& widthOf) {
    qsizetype fits = 0, beyond = most + 1;
    while (beyond - fits > 1) {
        const qsizetype middle = fits + (beyond - fits) / 2;
        (widthOf(middle) <= room ? fits : beyond) = middle;
    }
    return fits;
}

}  // namespace

QString elidedText(const QString& text, Qt::TextElideMode mode, double room,
                   const std::function<double(QStringView)>& width) {
    if (mode == Qt::ElideNone || (text.size() < kMaxLooked && width(text) <= room)) return text;
    const QStringView all(text);
    const qsizetype most = std::min(all.size(), kMaxLooked);
    const double left = room - width(QStringView(&kEllipsis, 1));
    const auto headWidth = [&](qsizetype count) { return width(all.left(count)); };
    const auto tailWidth = [&](qsizetype count) { return width(all.right(count)); };
    const bool hasHead = mode != Qt::ElideLeft, hasTail = mode != Qt::ElideRight;
    qsizetype head = hasHead ? cutBefore(all, fitting(most, hasTail ? left / 2 : left, headWidth)) : 0;
    const double forTail = left - headWidth(head);
    const qsizetype tail = hasTail ? cutAfter(all, all.size() - fitting(most, forTail, tailWidth)) : all.size();
    // What a number took from the end is given to the beginning.
    if (hasHead && hasTail)
        head = std::max(head,
                        cutBefore(all, fitting(std::min(most, tail), left - tailWidth(all.size() - tail), headWidth)));
    return text.left(head) + kEllipsis + text.mid(tail);
}

QString elidedText(const QString& text, Qt::TextElideMode mode, int room, const QFontMetrics& metrics) {
    return elidedText(text, mode, static_cast<double>(room), [&metrics](QStringView part) {
        return static_cast<double>(metrics.horizontalAdvance(part.toString()));
    });
}

}  // namespace sonde::theme
