#include "ui/widgets/labelled_map.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QResizeEvent>

#include <algorithm>

#include "ui/theme/theme.h"

namespace sonde::widgets {

namespace {

constexpr qint64 kMaxMeasured = 256;  ///< labels that the width of a strip is made for
constexpr int kMaxLabel = 96;         ///< pixels
constexpr int kGap = 4;               ///< pixels between a label and the map

}  // namespace

/// The names of rows, or of columns.
class LabelledMap::Strip : public QWidget {
  public:
    Strip(LabelledMap* map, bool isLeft) : QWidget(map), isRows(isLeft), m_map(map) {}
    const bool isRows;

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        m_map->paintStrip(painter, *this);
    }

  private:
    LabelledMap* m_map;
};

LabelledMap::LabelledMap(QWidget* parent)
    : HeatMapView(parent), m_left(new Strip(this, true)), m_top(new Strip(this, false)) {
    connect(this, &HeatMapView::moved, this, [this] {
        m_left->update();
        m_top->update();
    });
    connect(this, &HeatMapView::cellHovered, this, [this](qint64 row, qint64 column, double) {
        m_hovered = {row, column};
        if (isLocked()) return;
        viewport()->update();
        m_left->update();
        m_top->update();
        Q_EMIT crossChanged();
    });
    connect(this, &HeatMapView::cellPicked, this, [this](qint64 row, qint64 column, double) {
        setLocked(m_locked == std::pair(row, column) ? std::pair<qint64, qint64>(-1, -1) : std::pair(row, column));
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &LabelledMap::measure);
}

void LabelledMap::setLocked(std::pair<qint64, qint64> cell) {
    m_locked = cell.first < rows() && cell.second < columns() ? cell : std::pair<qint64, qint64>(-1, -1);
    viewport()->update();
    m_left->update();
    m_top->update();
    Q_EMIT crossChanged();
}

void LabelledMap::setLabels(const QString& rowTitle, Label row, const QString& columnTitle, Label column) {
    m_rowTitle = rowTitle;
    m_columnTitle = columnTitle;
    m_row = std::move(row);
    m_column = std::move(column);
    if (m_locked.first >= rows() || m_locked.second >= columns()) m_locked = {-1, -1};
    if (m_hovered.first >= rows() || m_hovered.second >= columns()) m_hovered = {-1, -1};
    measure();
}

QString LabelledMap::labelOf(bool isRow, qint64 index) const {
    const Label& label = isRow ? m_row : m_column;
    return label ? label(index) : QString::number(index);
}

void LabelledMap::measure() {
    const QFontMetrics metrics(theme::Theme::instance().smallFont());
    const auto widest = [&](bool isRow, qint64 count) {
        int width = metrics.horizontalAdvance(QStringLiteral("00"));
        for (qint64 i = 0; i < std::min(count, kMaxMeasured); ++i)
            width = std::max(width, metrics.horizontalAdvance(labelOf(isRow, i)));
        width = std::max(width, metrics.horizontalAdvance(labelOf(isRow, std::max<qint64>(count - 1, 0))));
        return std::min(width, kMaxLabel);
    };
    m_widestColumn = widest(false, columns());
    // The title has a line of its own beside the labels.
    setViewportMargins(widest(true, rows()) + 2 * kGap + metrics.height(), m_widestColumn + 2 * kGap + metrics.height(),
                       0, 0);
    resizeEvent(nullptr);
    m_left->update();
    m_top->update();
}

void LabelledMap::resizeEvent(QResizeEvent* event) {
    HeatMapView::resizeEvent(event);
    const QRect inner = viewport()->geometry();
    m_left->setGeometry(0, inner.top(), inner.left(), inner.height());
    m_top->setGeometry(inner.left(), 0, inner.width(), inner.top());
}

void LabelledMap::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && isLocked()) return setLocked({-1, -1});
    HeatMapView::keyPressEvent(event);
}

void LabelledMap::paintStrip(QPainter& painter, const Strip& strip) const {
    painter.fillRect(strip.rect(), theme::color(theme::ColorRole::PlotBackground));
    const qint64 count = strip.isRows ? rows() : columns();
    if (count == 0 || columns() == 0 || rows() == 0) return;
    painter.setFont(theme::Theme::instance().smallFont());
    const QFontMetrics metrics(painter.font());
    const int line = metrics.height();
    const int length = strip.isRows ? strip.height() : strip.width(),
              depth = strip.isRows ? strip.width() : strip.height();
    const auto centre = [&](qint64 index) {
        const QRectF cell = strip.isRows ? cellRect(index, 0) : cellRect(0, index);
        return strip.isRows ? cell.center().y() : cell.center().x();
    };
    const double size = count > 1 ? centre(1) - centre(0) : line;
    // Columns whose names are wider than they are written upwards, as rows of a strip that is turned by a quarter.
    const bool isLevel = !strip.isRows && m_widestColumn + 2 <= size;
    if (!strip.isRows && !isLevel) {
        painter.translate(0, strip.height());
        painter.rotate(-90);
    }
    const auto placeOf = [&](double at) {
        if (isLevel) return QRectF(at - size / 2, depth - kGap - line, size, line).toRect();
        return QRect(strip.isRows ? line : kGap, static_cast<int>(std::lround(at - line / 2.0)), depth - line - kGap,
                     line);
    };
    const int align = isLevel ? Qt::AlignHCenter : strip.isRows ? Qt::AlignRight : Qt::AlignLeft;
    const auto step = isLevel ? 1 : static_cast<qint64>(std::max(1.0, std::ceil(line / std::max(size, 1e-9))));
    const auto [crossRow, crossColumn] = cross();
    const qint64 marked = strip.isRows ? crossRow : crossColumn;
    const auto draw = [&](qint64 index, bool isMarked) {
        const double at = centre(index);
        if (at < 0 || at > length) return;
        const QRect place = placeOf(at);
        if (isMarked) painter.fillRect(place.adjusted(-2, 0, 2, 0), theme::color(theme::ColorRole::Accent));
        painter.setPen(theme::color(isMarked ? theme::ColorRole::AccentText : theme::ColorRole::PlotLabel));
        const QString text = metrics.elidedText(labelOf(strip.isRows, index), Qt::ElideRight, place.width());
        painter.drawText(place, align | Qt::AlignVCenter, text);
    };
    const auto first = static_cast<qint64>(std::max(0.0, std::floor(-centre(0) / std::max(size, 1e-9))));
    for (qint64 i = first / step * step; i < count && centre(i) <= length; i += step)
        if (marked < 0 || std::abs(centre(i) - centre(marked)) >= std::min<double>(line, step * size)) draw(i, false);
    if (marked >= 0) draw(marked, true);
    // The title, along the strip.
    painter.setPen(theme::color(theme::ColorRole::PlotLabel));
    const QString title = strip.isRows ? m_rowTitle : m_columnTitle;
    painter.resetTransform();
    if (strip.isRows) {
        painter.translate(0, strip.height());
        painter.rotate(-90);
    }
    if (metrics.horizontalAdvance(title) <= length) painter.drawText(QRect(0, 0, length, line), Qt::AlignCenter, title);
}

void LabelledMap::paintEvent(QPaintEvent* event) {
    HeatMapView::paintEvent(event);
    const auto [row, column] = cross();
    if (row < 0) return;
    QPainter painter(viewport());
    const QRectF content = cellRect(0, 0).united(cellRect(rows() - 1, columns() - 1));
    const QRectF across(content.left(), cellRect(row, 0).top(), content.width(), cellRect(row, 0).height());
    const QRectF down(cellRect(0, column).left(), content.top(), cellRect(0, column).width(), content.height());
    QPainterPath rest, kept, other;
    rest.addRect(content);
    kept.addRect(across);
    other.addRect(down);
    QColor veil = theme::color(theme::ColorRole::PlotBackground);
    veil.setAlphaF(isLocked() ? 0.7F : 0.45F);
    painter.fillPath(rest.subtracted(kept.united(other)), veil);
    painter.setPen(QPen(theme::color(theme::ColorRole::Accent), isLocked() ? 1.5 : 1.0));
    painter.drawRect(across);
    painter.drawRect(down);
}

}  // namespace sonde::widgets
