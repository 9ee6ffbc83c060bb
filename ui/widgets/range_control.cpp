#include "ui/widgets/range_control.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "ui/theme/color_map.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/tool_button.h"

namespace sonde::widgets {
namespace {

QLineEdit* numberField(const QString& name, QWidget* parent) {
    auto* field = new QLineEdit(parent);
    field->setAccessibleName(name);
    field->setToolTip(name);
    return field;
}

QToolButton* toggle(const QString& icon, const QString& text, QWidget* parent) {
    QToolButton* button = makeToolButton(icon, text, parent);
    button->setCheckable(true);
    return button;
}

QIcon swatch(const theme::ColorMap& map) {
    QPixmap pixmap(48, 12);
    QPainter painter(&pixmap);
    for (int x = 0; x < 48; ++x) painter.fillRect(x, 0, 1, 12, QColor(map.at(x / 47.0)));
    return QIcon(pixmap);
}

}  // namespace

RangeControl::RangeControl(QWidget* parent)
    : QWidget(parent), m_low(numberField(tr("Min of the range"), this)),
      m_high(numberField(tr("Max of the range"), this)),
      m_autofit(toggle(QStringLiteral("autofit"), tr("Fit the range once; right-click to keep fitting"), this)),
      m_lock(toggle(QStringLiteral("lock"), tr("Keep the range when another value is shown"), this)),
      m_log(toggle(QStringLiteral("log-scale"), tr("Logarithmic"), this)),
      m_diverging(toggle(QStringLiteral("diverging"), tr("Symmetric around zero"), this)), m_map(new QComboBox(this)) {
    m_map->setAccessibleName(tr("Colormap"));
    m_map->setToolTip(tr("Colormap"));
    m_map->setIconSize({48, 12});
    m_map->addItem(tr("Colormap: default"), QString());
    for (const theme::ColorMap& map : theme::colorMaps()) m_map->addItem(swatch(map), map.title(), QString(map.id()));
    m_map->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_map->setMinimumContentsLength(8);
    setCompact(false);
    m_autofit->setContextMenuPolicy(Qt::PreventContextMenu);
    m_autofit->installEventFilter(this);
    auto* row = new FlowLayout(this, theme::kTight, theme::kTight);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_low, new QLabel(QStringLiteral("…"), this), m_high,
                                                           m_autofit, m_lock, m_log, m_diverging, m_map})
        row->addWidget(widget);
    for (QLineEdit* field : {m_low, m_high}) {
        field->installEventFilter(this);
        connect(field, &QLineEdit::editingFinished, this, [this, field] { takeField(field); });
    }
    connect(m_autofit, &QToolButton::clicked, this, [this] {
        m_autofit->setChecked(m_state.autofit);
        fitOnce();
    });
    connect(m_lock, &QToolButton::clicked, this, &RangeControl::setLocked);
    connect(m_log, &QToolButton::clicked, this, &RangeControl::setLogarithmic);
    connect(m_diverging, &QToolButton::clicked, this, &RangeControl::setDiverging);
    connect(m_map, &QComboBox::activated, this, [this] {
        m_state.map = m_map->currentData().toString();
        Q_EMIT changed();
    });
    refresh();
}

void RangeControl::setData(double smallest, double largest) {
    m_smallest = smallest;
    m_largest = largest;
    if (m_state.autofit && !m_state.locked) fitToData();
}

void RangeControl::setState(const RangeState& state) {
    if (state == m_state) return;
    m_state = state;
    refresh();
    Q_EMIT changed();
}

QString RangeControl::mapId() const {
    if (!m_state.map.isEmpty()) return m_state.map;
    return m_state.diverging ? QStringLiteral("diverging") : QString(theme::colorMaps().front().id());
}

void RangeControl::setCompact(bool compact) {
    m_isCompact = compact;
    fitFields();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_log, m_diverging, m_map}) widget->setHidden(compact);
}

/// As wide as what is in them, and no narrower than a usual number, so that little moves when the range does.
void RangeControl::fitFields() {
    const QString usual = m_isCompact ? QStringLiteral("-0.00000") : QStringLiteral("-0.00000e-00");
    for (QLineEdit* field : {m_low, m_high}) {
        const QFontMetrics metrics = field->fontMetrics();
        // What the style puts around the text: a line edit is made for 17 characters.
        const int around = field->sizeHint().width() - 17 * metrics.horizontalAdvance(u'x');
        const int text = std::max(metrics.horizontalAdvance(usual), metrics.horizontalAdvance(field->text()));
        field->setFixedWidth(text + around + theme::kTight);
        field->setCursorPosition(0);
    }
}

void RangeControl::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fitFields();
}

void RangeControl::fitOnce() { fitToData(); }

void RangeControl::fitToData() {
    double low = m_smallest, high = m_largest;
    if (m_state.diverging) {
        high = std::max(std::abs(low), std::abs(high));
        low = -high;
    }
    setEnds(low, high);
}

void RangeControl::setEnds(double low, double high) {
    if (low == m_state.low && high == m_state.high) return refresh();
    m_state.low = low;
    m_state.high = high;
    refresh();
    Q_EMIT changed();
}

void RangeControl::setLocked(bool locked) {
    if (locked == m_state.locked) return;
    m_state.locked = locked;
    if (!locked && m_state.autofit) fitToData();
    refresh();
    Q_EMIT changed();
}

void RangeControl::setLogarithmic(bool logarithmic) {
    if (logarithmic == m_state.logarithmic) return;
    m_state.logarithmic = logarithmic;
    refresh();
    Q_EMIT changed();
}

void RangeControl::setDiverging(bool diverging) {
    if (diverging == m_state.diverging) return;
    m_state.diverging = diverging;
    if (m_state.autofit && !m_state.locked) {
        fitToData();
    } else if (diverging) {
        const double end = std::max(std::abs(m_state.low), std::abs(m_state.high));
        m_state.low = -end;
        m_state.high = end;
    }
    refresh();
    Q_EMIT changed();
}

void RangeControl::takeField(QLineEdit* field) {
    bool valid = false;
    const double value = field->text().trimmed().toDouble(&valid);
    const double before = field == m_low ? m_state.low : m_state.high;
    // What the field shows is rounded; leaving it untouched must not round the range.
    if (!valid || !std::isfinite(value) || field->text() == numberText(before)) return refresh();
    m_state.autofit = false;
    double low = field == m_low ? value : m_state.low, high = field == m_high ? value : m_state.high;
    if (m_state.diverging) {
        high = std::abs(value);
        low = -high;
    } else if (low > high) {
        std::swap(low, high);
    }
    setEnds(low, high);
}

void RangeControl::nudge(QLineEdit* field, int steps) {
    const double step = (m_state.high - m_state.low) / 100.0 * steps;
    m_state.autofit = false;
    double low = m_state.low, high = m_state.high;
    if (m_state.diverging) {
        high = std::max(0.0, high + (field == m_high ? step : -step));
        low = -high;
    } else {
        (field == m_low ? low : high) += step;
    }
    if (low <= high) setEnds(low, high);
}

bool RangeControl::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress && (watched == m_low || watched == m_high)) {
        auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down) {
            const int size = key->modifiers() & Qt::ShiftModifier ? 10 : 1;
            nudge(static_cast<QLineEdit*>(watched), key->key() == Qt::Key_Up ? size : -size);
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            refresh();
            return true;
        }
    }
    if (watched == m_autofit && event->type() == QEvent::MouseButtonRelease &&
        static_cast<QMouseEvent*>(event)->button() == Qt::RightButton) {
        m_state.autofit = !m_state.autofit;
        if (m_state.autofit) fitToData();
        refresh();
        Q_EMIT changed();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void RangeControl::refresh() {
    m_low->setText(numberText(m_state.low));
    m_high->setText(numberText(m_state.high));
    fitFields();
    m_autofit->setChecked(m_state.autofit);
    m_lock->setChecked(m_state.locked);
    m_log->setChecked(m_state.logarithmic);
    m_diverging->setChecked(m_state.diverging);
    const QSignalBlocker blocker(m_map);
    m_map->setCurrentIndex(std::max(0, m_map->findData(m_state.map)));
}

}  // namespace sonde::widgets
