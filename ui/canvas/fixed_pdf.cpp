#include "ui/canvas/fixed_pdf.h"

#include <QDateTime>
#include <QHashFunctions>

#include <cstring>

namespace sonde::canvas {

namespace {

std::mutex& hashOrderMutex() {
    static std::mutex one;
    return one;
}

/// The date of SOURCE_DATE_EPOCH (reproducible-builds.org), else none: no PDF viewer takes zeros for a date. What is
/// behind keeps its place, which the table at the end of the file names.
void fixDate(QByteArray& pdf, const QByteArray& key) {
    bool isGiven = false;
    const qint64 seconds = qEnvironmentVariable("SOURCE_DATE_EPOCH").toLongLong(&isGiven);
    for (qsizetype at = pdf.indexOf(key); at >= 0; at = pdf.indexOf(key, at + 1)) {
        const qsizetype end = pdf.indexOf(')', at);
        if (end < 0) return;
        const QByteArray date =
            QDateTime::fromSecsSinceEpoch(seconds, Qt::UTC).toString(QStringLiteral("yyyyMMddHHmmss")).toLatin1() + 'Z';
        const QByteArray entry = isGiven ? key + date + ')' : QByteArray();
        const qsizetype room = end + 1 - at;
        if (entry.size() <= room) pdf.replace(at, room, entry.leftJustified(room, ' '));
    }
}

}  // namespace

void fixVolatileParts(QByteArray& pdf) {
    const auto blank = [&pdf](const QByteArray& before, char until, const char* allowed, char with) {
        for (qsizetype at = pdf.indexOf(before); at >= 0; at = pdf.indexOf(before, at)) {
            at += before.size();
            for (; at < pdf.size() && pdf[at] != until; ++at)
                if (std::strchr(allowed, pdf[at])) pdf[at] = with;
        }
    };
    static constexpr const char* kDigits = "0123456789";
    static constexpr const char* kHex = "0123456789abcdefABCDEF";
    fixDate(pdf, "/CreationDate (D:");
    fixDate(pdf, "/ModDate (D:");
    for (const char* tag : {"<xmp:CreateDate>", "<xmp:ModifyDate>", "<xmp:MetadataDate>"})
        blank(tag, '<', kDigits, '0');
    blank("xmpMM:DocumentID=\"uuid:", '"', kHex, '0');
    blank("<xmpMM:DocumentID>uuid:", '<', kHex, '0');
    blank("<xmpMM:InstanceID>uuid:", '<', kHex, '0');
    const qsizetype id = pdf.lastIndexOf("/ID [");
    for (qsizetype at = id; id >= 0 && at < pdf.size() && pdf[at] != ']'; ++at)
        if (at > id + 4 && std::strchr(kHex, pdf[at])) pdf[at] = '0';
}

FixedHashOrder::FixedHashOrder() : m_lock(hashOrderMutex()) { QHashSeed::setDeterministicGlobalSeed(); }
FixedHashOrder::~FixedHashOrder() { QHashSeed::resetRandomGlobalSeed(); }

}  // namespace sonde::canvas
