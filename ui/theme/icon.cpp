#include "ui/theme/icon.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "ui/theme/theme.h"

// A static library's resources are linked in only when they are asked for by name, from outside any namespace.
static void initIconResources() { Q_INIT_RESOURCE(icons); }

namespace sonde::theme {
namespace {

QString pathOf(const QString& name) {
    static const bool ready = (initIconResources(), true);
    Q_UNUSED(ready);
    return QStringLiteral(":/icons/%1.svg").arg(name);
}

/// The file's text; every icon is drawn in `currentColor` alone, which is replaced when it is painted.
QByteArray sourceOf(const QString& name) {
    static QHash<QString, QByteArray> cache;
    const auto found = cache.constFind(name);
    if (found != cache.constEnd()) return *found;
    QFile file(pathOf(name));
    return *cache.insert(name, file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray());
}

void paintIcon(QPainter& painter, const QString& name, const QColor& color, const QRectF& target) {
    QByteArray source = sourceOf(name);
    source.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(source);
    const double edge = std::min(target.width(), target.height());
    renderer.render(&painter, QRectF(target.center() - QPointF(edge, edge) / 2, QSizeF(edge, edge)));
}

QPixmap cachedPixmap(const QString& name, const QColor& color, QSize size, qreal scale) {
    // A button squeezed to nothing asks for one all the same.
    if (size.isEmpty()) return {};
    const QString key = QStringLiteral("sonde-icon/%1/%2/%3x%4@%5")
                            .arg(name, color.name(QColor::HexArgb))
                            .arg(size.width())
                            .arg(size.height())
                            .arg(scale);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) return pixmap;
    pixmap = QPixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintIcon(painter, name, color, QRectF(QPointF(0, 0), QSizeF(size)));
    painter.end();
    pixmap.setDevicePixelRatio(scale);
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

/// Asks the theme for the colour each time it paints, so that one QIcon serves every scheme.
class TintedIconEngine : public QIconEngine {
  public:
    TintedIconEngine(QString name, ColorRole role) : m_name(std::move(name)), m_role(role) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        paintIcon(*painter, m_name, tint(mode), rect);
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override {
        return cachedPixmap(m_name, tint(mode), size, 1.0);
    }
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal scale) override {
        return cachedPixmap(m_name, tint(mode), size, scale);
    }
    QIconEngine* clone() const override { return new TintedIconEngine(m_name, m_role); }
    QString iconName() override { return m_name; }
    bool isNull() override { return sourceOf(m_name).isEmpty(); }

  private:
    QColor tint(QIcon::Mode mode) const {
        if (mode == QIcon::Disabled) return color(ColorRole::DisabledText);
        // Under a selection in high contrast the background is bright and the ordinary ink would vanish.
        if (mode == QIcon::Selected && m_role == ColorRole::Text) return color(ColorRole::AccentSoftText);
        return color(m_role);
    }

    QString m_name;
    ColorRole m_role;
};

}  // namespace

QIcon icon(const QString& name) { return icon(name, ColorRole::Text); }

QIcon icon(const QString& name, ColorRole role) {
    if (sourceOf(name).isEmpty()) return {};
    return QIcon(new TintedIconEngine(name, role));
}

QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal devicePixelRatio) {
    const int pixels = std::max(1, qRound(size * devicePixelRatio));
    return cachedPixmap(name, color, {pixels, pixels}, devicePixelRatio);
}

QIcon applicationIcon() { return QIcon(pathOf(QStringLiteral("sonde"))); }

QStringList iconNames() {
    pathOf({});
    QStringList names;
    for (const QString& file :
         QDir(QStringLiteral(":/icons")).entryList({QStringLiteral("*.svg")}, QDir::Files, QDir::Name))
        if (file != QLatin1String("sonde.svg")) names << file.chopped(4);
    return names;
}

}  // namespace sonde::theme
