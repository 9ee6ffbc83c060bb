#include "ui/canvas/run_title.h"

namespace sonde::canvas {

namespace {

const QString kTo = QStringLiteral(" \u2026 ");
constexpr QChar kTimes(0xd7);

}  // namespace

bool isRunTitle(const QString& title) { return title.contains(QStringLiteral("  ") + kTimes); }

QString shortRunTitle(const QString& title, const std::function<bool(const QString&)>& fits) {
    if (fits(title)) return title;
    const qsizetype times = title.lastIndexOf(kTimes);
    QString name = title.left(times).trimmed();
    QString count = title.mid(times);
    count = count.left(count.indexOf(u','));  // without what is said of a pattern
    const qsizetype to = name.indexOf(kTo);
    const QString until = to < 0 ? QString() : name.mid(to);
    if (to >= 0) name.truncate(to);
    const auto whole = [&] { return name + until + QStringLiteral("  ") + count; };
    if (fits(whole())) return whole();
    for (qsizetype dot = name.indexOf(u'.'); dot >= 0; dot = name.indexOf(u'.')) {
        name = name.mid(dot + 1);
        if (fits(whole())) return whole();
    }
    qsizetype digits = name.size();
    while (digits > 0 && name[digits - 1].isDigit()) --digits;
    name = name.mid(digits);
    if (!name.isEmpty() && fits(whole())) return whole();
    return fits(count) ? count : QString();
}

}  // namespace sonde::canvas
