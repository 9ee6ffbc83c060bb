#include "ui/canvas/fixed_pdf.h"

#include <QHashFunctions>

#include <cstring>

namespace sonde::canvas {

namespace {

std::mutex& hashOrderMutex() {
    static std::mutex one;
    return one;
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
    blank("/CreationDate (D:", ')', kDigits, '0');
    blank("/ModDate (D:", ')', kDigits, '0');
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
