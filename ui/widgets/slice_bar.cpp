#include "ui/widgets/slice_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>

#include <algorithm>
#include <initializer_list>

#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

namespace sonde::widgets {
namespace {

/// Spin boxes and sliders count in int; an axis longer than that is reached by text.
int widgetLimit(qint64 size) { return static_cast<int>(std::clamp<qint64>(size - 1, 0, 2'000'000'000)); }

/// A number and a slider for the place on one axis, kept in step.
class PlacePicker : public QWidget {
    Q_OBJECT
  public:
    PlacePicker(int axis, qint64 size, QWidget* parent)
        : QWidget(parent), m_axis(axis), m_label(new QLabel(this)), m_spin(new QSpinBox(this)),
          m_slider(new QSlider(Qt::Horizontal, this)) {
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(theme::kTight);
        m_label->setText(tr("axis %1").arg(axis));
        for (QWidget* widget : std::initializer_list<QWidget*>{m_label, m_spin})
            widget->setToolTip(tr("Axis %1, size %2").arg(axis).arg(size));
        row->addWidget(m_label);
        row->addWidget(m_spin);
        row->addWidget(m_slider);
        m_spin->setRange(0, widgetLimit(size));
        m_spin->setSuffix(tr(" / %1").arg(size));
        m_spin->setAccessibleName(tr("Index on axis %1").arg(axis));
        m_spin->setKeyboardTracking(false);
        m_spin->setWrapping(true);
        m_slider->setRange(0, widgetLimit(size));
        m_slider->setFixedWidth(90);
        m_slider->setAccessibleName(tr("Index on axis %1").arg(axis));
        connect(m_spin, &QSpinBox::valueChanged, this, &PlacePicker::placed);
        connect(m_slider, &QSlider::valueChanged, m_spin, &QSpinBox::setValue);
    }
    int axis() const { return m_axis; }
    void setCompact(bool compact) {
        m_label->setHidden(compact);
        m_slider->setHidden(compact);
    }
    void setPlace(qint64 place) {
        const QSignalBlocker spin(m_spin), slider(m_slider);
        m_spin->setValue(static_cast<int>(place));
        m_slider->setValue(static_cast<int>(place));
    }

  Q_SIGNALS:
    void placed(int place);

  private:
    int m_axis;
    QLabel* m_label;
    QSpinBox* m_spin;
    QSlider* m_slider;
};

}  // namespace

Slice SliceBar::usual(const std::vector<qint64>& shape) {
    const int rank = static_cast<int>(shape.size());
    Slice slice{rank >= 2 ? rank - 2 : -1, rank >= 1 ? rank - 1 : -1, std::vector<qint64>(shape.size(), 0)};
    std::vector<int> longer;
    for (int axis = 0; axis < rank; ++axis)
        if (shape[static_cast<std::size_t>(axis)] != 1) longer.push_back(axis);
    if (longer.size() >= 2) slice.rowAxis = longer[longer.size() - 2], slice.columnAxis = longer.back();
    else if (longer.size() == 1 && longer.front() < rank - 2) slice.rowAxis = -1, slice.columnAxis = longer.front();
    return slice;
}

bool SliceBar::fits(const Slice& slice, const std::vector<qint64>& shape) {
    const int rank = static_cast<int>(shape.size());
    if (slice.index.size() != shape.size()) return false;
    if (slice.rowAxis < -1 || slice.rowAxis >= rank || slice.columnAxis < -1 || slice.columnAxis >= rank) return false;
    if (slice.rowAxis >= 0 && slice.rowAxis == slice.columnAxis) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool shown = static_cast<int>(i) == slice.rowAxis || static_cast<int>(i) == slice.columnAxis;
        if (!shown && shape[i] > 0 && (slice.index[i] < 0 || slice.index[i] >= shape[i])) return false;
    }
    return true;
}

QString SliceBar::text(const Slice& slice) {
    QStringList parts;
    for (std::size_t i = 0; i < slice.index.size(); ++i) {
        const bool shown = static_cast<int>(i) == slice.rowAxis || static_cast<int>(i) == slice.columnAxis;
        parts << (shown ? QStringLiteral(":") : QString::number(slice.index[i]));
    }
    return parts.join(QStringLiteral(", "));
}

bool SliceBar::parse(const QString& text, const std::vector<qint64>& shape, Slice& slice, QString& why) {
    QString bare = text.trimmed();
    if (bare.startsWith(QLatin1Char('[')) && bare.endsWith(QLatin1Char(']'))) bare = bare.mid(1, bare.size() - 2);
    const QStringList parts = bare.isEmpty() ? QStringList() : bare.split(QLatin1Char(','));
    if (static_cast<std::size_t>(parts.size()) != shape.size()) {
        why = tr("%1 indices for %2 axes").arg(parts.size()).arg(shape.size());
        return false;
    }
    Slice read{-1, -1, std::vector<qint64>(shape.size(), 0)};
    for (int i = 0; i < parts.size(); ++i) {
        const QString part = parts[i].trimmed();
        const qint64 size = shape[static_cast<std::size_t>(i)];
        if (part == QLatin1String(":")) {
            if (read.columnAxis < 0) {
                read.columnAxis = i;
            } else if (read.rowAxis < 0) {
                read.rowAxis = read.columnAxis;
                read.columnAxis = i;
            } else {
                why = tr("at most two axes can be shown");
                return false;
            }
            continue;
        }
        bool isNumber = false;
        qint64 place = part.toLongLong(&isNumber);
        if (isNumber && place < 0) place += size;
        if (!isNumber || place < 0 || place >= size) {
            why = isNumber ? tr("axis %1 has size %2").arg(i).arg(size)
                           : tr("\"%1\" is neither an index nor \":\"").arg(part);
            return false;
        }
        read.index[static_cast<std::size_t>(i)] = place;
    }
    slice = read;
    return true;
}

SliceBar::SliceBar(QWidget* parent)
    : QWidget(parent), m_layout(new FlowLayout(this, theme::kMedium, theme::kTight)), m_text(new QLineEdit(this)),
      m_rowsPart(new QWidget(this)), m_columnsPart(new QWidget(this)), m_rows(new QComboBox(m_rowsPart)),
      m_columns(new QComboBox(m_columnsPart)) {
    m_text->setAccessibleName(tr("Slice"));
    m_text->setToolTip(tr("The slice as in numpy, for example 0, 3, :, :"));
    const auto join = [](QWidget* part, const QString& label, QComboBox* box) {
        auto* row = new QHBoxLayout(part);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(theme::kTight);
        row->addWidget(new QLabel(label, part));
        row->addWidget(box);
    };
    join(m_rowsPart, tr("rows"), m_rows);
    join(m_columnsPart, tr("columns"), m_columns);
    for (QComboBox* box : {m_rows, m_columns}) box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_rows->setAccessibleName(tr("Axis of the rows"));
    m_columns->setAccessibleName(tr("Axis of the columns"));
    m_layout->addWidget(m_text);
    m_layout->addWidget(m_rowsPart);
    m_layout->addWidget(m_columnsPart);
    connect(m_text, &QLineEdit::editingFinished, this, [this] {
        Slice read;
        QString why;
        if (m_text->text() == text(m_slice)) return;
        if (parse(m_text->text(), m_shape, read, why)) {
            change(read);
        } else {
            m_text->setToolTip(why);
            m_text->setAccessibleDescription(why);
            m_text->setText(text(m_slice));
        }
    });
    connect(m_rows, &QComboBox::activated, this, [this] { pickAxis(true, m_rows->currentData().toInt()); });
    connect(m_columns, &QComboBox::activated, this, [this] { pickAxis(false, m_columns->currentData().toInt()); });
    setShape({});
}

void SliceBar::setShape(const std::vector<qint64>& shape) {
    if (shape == m_shape && fits(m_slice, shape)) return;
    m_shape = shape;
    const bool kept = fits(m_slice, shape);
    if (!kept) m_slice = usual(shape);
    rebuild();
    if (!kept) Q_EMIT sliceChanged();
}

void SliceBar::setSlice(const Slice& slice) {
    if (fits(slice, m_shape)) change(slice);
}

void SliceBar::setHiddenAxes(const std::vector<int>& axes) {
    if (axes == m_hiddenAxes) return;
    m_hiddenAxes = axes;
    rebuild();
}

void SliceBar::setAxesPickable(bool pickable) {
    m_pickable = pickable;
    refresh();
}

void SliceBar::setCompact(bool compact) {
    if (compact == m_isCompact) return;
    m_isCompact = compact;
    for (QWidget* place : m_places) static_cast<PlacePicker*>(place)->setCompact(compact);
    refresh();
    updateGeometry();
}

void SliceBar::change(const Slice& slice) {
    if (slice == m_slice) return refresh();
    const bool otherAxes = slice.rowAxis != m_slice.rowAxis || slice.columnAxis != m_slice.columnAxis;
    m_slice = slice;
    if (otherAxes) rebuild();
    else refresh();
    Q_EMIT sliceChanged();
}

void SliceBar::pickAxis(bool row, int axis) {
    Slice next = m_slice;
    int& picked = row ? next.rowAxis : next.columnAxis;
    int& other = row ? next.columnAxis : next.rowAxis;
    // Taking the other's axis changes the two over: the slice is turned.
    if (axis == other) other = picked;
    picked = axis;
    change(next);
}

void SliceBar::rebuild() {
    for (QWidget* place : m_places) {
        m_layout->removeWidget(place);
        place->hide();
        place->deleteLater();
    }
    m_places.clear();
    for (int axis = 0; axis < static_cast<int>(m_shape.size()); ++axis) {
        const bool hidden = std::find(m_hiddenAxes.begin(), m_hiddenAxes.end(), axis) != m_hiddenAxes.end();
        if (hidden || axis == m_slice.rowAxis || axis == m_slice.columnAxis) continue;
        if (m_shape[static_cast<std::size_t>(axis)] < 2) continue;  // nothing to choose
        auto* picker = new PlacePicker(axis, m_shape[static_cast<std::size_t>(axis)], this);
        connect(picker, &PlacePicker::placed, this, [this, axis](int place) {
            Slice next = m_slice;
            next.index[static_cast<std::size_t>(axis)] = place;
            change(next);
        });
        picker->setCompact(m_isCompact);
        m_layout->addWidget(picker);
        picker->show();
        m_places.push_back(picker);
    }
    for (QComboBox* box : {m_rows, m_columns}) {
        const QSignalBlocker blocker(box);
        box->clear();
        box->addItem(tr("none"), -1);
        for (int axis = 0; axis < static_cast<int>(m_shape.size()); ++axis)
            box->addItem(tr("axis %1 (%2)").arg(axis).arg(m_shape[static_cast<std::size_t>(axis)]), axis);
    }
    refresh();
    updateGeometry();
}

void SliceBar::refresh() {
    m_text->setText(text(m_slice));
    m_text->setVisible(m_pickable && !m_shape.empty());
    constexpr int kTextWidth = 150, kCompactTextWidth = 104;  // pixels
    m_text->setFixedWidth(m_isCompact ? kCompactTextWidth : kTextWidth);
    for (QWidget* part : {m_rowsPart, m_columnsPart})
        part->setVisible(m_pickable && !m_isCompact && m_shape.size() > 1);
    const QSignalBlocker rows(m_rows), columns(m_columns);
    m_rows->setCurrentIndex(m_rows->findData(m_slice.rowAxis));
    m_columns->setCurrentIndex(m_columns->findData(m_slice.columnAxis));
    for (QWidget* place : m_places) {
        auto* picker = static_cast<PlacePicker*>(place);
        picker->setPlace(m_slice.index[static_cast<std::size_t>(picker->axis())]);
    }
    setAccessibleName(tr("Slice %1").arg(text(m_slice)));
}

void SliceBar::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_PageDown ? 1 : event->key() == Qt::Key_PageUp ? -1 : 0;
    if (step == 0 || m_places.empty()) return QWidget::keyPressEvent(event);
    // Steps the last of the sliders: for [N, C, H, W] that is the channel.
    const auto axis = static_cast<std::size_t>(static_cast<PlacePicker*>(m_places.back())->axis());
    if (m_shape[axis] <= 0) return;
    Slice next = m_slice;
    next.index[axis] = (next.index[axis] + step + m_shape[axis]) % m_shape[axis];
    change(next);
}

}  // namespace sonde::widgets

#include "slice_bar.moc"
