#include "ui/canvas/canvas_style.h"

#include <QFontMetricsF>

#include "ui/theme/elided_text.h"

namespace sonde::canvas {

QFont canvasFont(TextRole role, double textScale) {
    static constexpr double kPixels[] = {13, 11, 9};
    QFont font;
    font.setFamilies({QStringLiteral("DejaVu Sans"), QStringLiteral("Noto Sans"), QStringLiteral("sans-serif")});
    font.setStyleHint(QFont::SansSerif);
    font.setPixelSize(qRound(kPixels[static_cast<int>(role)] * textScale));
    font.setWeight(role == TextRole::Title ? QFont::Bold : QFont::Normal);
    font.setHintingPreference(QFont::PreferNoHinting);
    font.setKerning(false);
    font.setStyleStrategy(QFont::NoSubpixelAntialias);  // the same pixels on every screen
    return font;
}

TextMeasure::TextMeasure(double textScale) {
    for (const TextRole role : {TextRole::Title, TextRole::Body, TextRole::Small}) {
        const QFont font = canvasFont(role, textScale);
        const QFontMetricsF metrics(font);
        Font& entry = m_fonts[index(role)];
        for (std::size_t c = 0; c < entry.advance.size(); ++c)
            entry.advance[c] =
                c < 32 ? 0.F : static_cast<float>(metrics.horizontalAdvance(QChar(static_cast<char16_t>(c))));
        entry.em = font.pixelSize();
        entry.height = metrics.height();
        entry.ascent = metrics.ascent();
    }
}

double TextMeasure::advance(const Font& font, QChar c) const {
    const char16_t code = c.unicode();
    if (code < font.advance.size()) return font.advance[code];
    if (c.isLowSurrogate()) return 0;
    return code >= 0x2e80 || code == 0x2026 ? font.em : 0.7 * font.em;
}

double TextMeasure::width(TextRole role, QStringView text) const {
    const Font& font = m_fonts[index(role)];
    double sum = 0;
    for (const QChar c : text) sum += advance(font, c);
    return sum;
}

QString TextMeasure::elided(TextRole role, const QString& text, double available) const {
    return theme::elidedText(text, Qt::ElideMiddle, available,
                             [this, role](QStringView part) { return width(role, part); });
}

}  // namespace sonde::canvas
