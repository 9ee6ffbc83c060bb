#include "ui/theme/calm_style.h"

#include <QPainter>
#include <QPainterPath>
#include <QStyleOption>

#include "ui/theme/elided_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::theme {
namespace {

bool has(const QStyleOption* option, QStyle::StateFlag state) { return option->state.testFlag(state); }

QColor outline(const QStyleOption* option) {
    if (!has(option, QStyle::State_Enabled)) return color(ColorRole::Border);
    return color(has(option, QStyle::State_HasFocus) ? ColorRole::FocusRing : ColorRole::StrongBorder);
}

void drawBox(QPainter* painter, const QRectF& rect, const QColor& fill, const QColor& line, double radius) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(line, 1));
    painter->setBrush(fill);
    painter->drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    painter->restore();
}

/// A "v" in the middle of a rectangle, or upside down.
void drawChevron(QPainter* painter, const QRectF& rect, bool down, const QColor& ink, double size = 3.5) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(ink, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF c = rect.center();
    const double dy = (down ? 1 : -1) * size / 2;
    painter->drawPolyline(
        QPolygonF{QPointF(c.x() - size, c.y() - dy), QPointF(c.x(), c.y() + dy), QPointF(c.x() + size, c.y() - dy)});
    painter->restore();
}

QColor inkOf(const QStyleOption* option) {
    return color(has(option, QStyle::State_Enabled) ? ColorRole::MutedText : ColorRole::DisabledText);
}

void drawIndicator(QPainter* painter, const QStyleOption* option, bool round) {
    const bool on = has(option, QStyle::State_On), half = has(option, QStyle::State_NoChange);
    const bool enabled = has(option, QStyle::State_Enabled);
    const double side = std::min(option->rect.width(), option->rect.height()) - 1.0;
    QRectF box(0, 0, side, side);
    box.moveCenter(QRectF(option->rect).center());
    const QColor fill = (on || half) && enabled
                            ? color(ColorRole::Accent)
                            : color(has(option, QStyle::State_MouseOver) ? ColorRole::Hover : ColorRole::Base);
    drawBox(painter, box, fill, (on || half) && enabled ? fill : outline(option), round ? side / 2 : 3);
    if (!on && !half) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QColor ink = color(enabled ? ColorRole::AccentText : ColorRole::DisabledText);
    if (round) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(ink);
        painter->drawEllipse(box.center(), side / 5, side / 5);
    } else {
        painter->setPen(QPen(ink, 1.7, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const auto at = [&](double x, double y) { return box.topLeft() + QPointF(x * side, y * side); };
        if (half) painter->drawLine(at(0.25, 0.5), at(0.75, 0.5));
        else painter->drawPolyline(QPolygonF{at(0.24, 0.52), at(0.43, 0.72), at(0.77, 0.30)});
    }
    painter->restore();
}

}  // namespace

CalmStyle::CalmStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void CalmStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                              const QWidget* widget) const {
    switch (element) {
        case PE_IndicatorCheckBox:
        case PE_IndicatorItemViewItemCheck: return drawIndicator(painter, option, false);
        case PE_IndicatorRadioButton: return drawIndicator(painter, option, true);
        case PE_FrameFocusRect: return drawBox(painter, option->rect, Qt::transparent, color(ColorRole::FocusRing), 3);
        case PE_Frame:
            painter->setPen(color(ColorRole::StrongBorder));
            painter->setBrush(Qt::NoBrush);
            return painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        case PE_FrameGroupBox:
            return drawBox(painter, option->rect, Qt::transparent, color(ColorRole::Border), kCornerRadius);
        case PE_IndicatorBranch: return drawBranch(option, painter, widget);
        default: QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

/// The arrow of a selected row has the colour of its text.
void CalmStyle::drawBranch(const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
    const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option);
    if (!item || !has(option, State_Selected))
        return QProxyStyle::drawPrimitive(PE_IndicatorBranch, option, painter, widget);
    QStyleOptionViewItem selected = *item;
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        selected.palette.setColor(role, color(ColorRole::AccentSoftText));
    QProxyStyle::drawPrimitive(PE_IndicatorBranch, &selected, painter, widget);
}

/// Headings that are too long for their column would be cut at either end.
void CalmStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                            const QWidget* widget) const {
    const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
    if (element != CE_HeaderLabel || !header) return QProxyStyle::drawControl(element, option, painter, widget);
    QStyleOptionHeader shortened = *header;
    shortened.text = elidedText(header->text, Qt::ElideRight, header->rect.width(), header->fontMetrics);
    QProxyStyle::drawControl(element, &shortened, painter, widget);
}

void CalmStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                                   const QWidget* widget) const {
    if (const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option); control == CC_ComboBox && combo) {
        const bool hovered = has(option, State_MouseOver) && has(option, State_Enabled);
        const QColor fill =
            combo->editable ? color(ColorRole::Base) : color(hovered ? ColorRole::Hover : ColorRole::Raised);
        drawBox(painter, option->rect, fill, outline(option), kCornerRadius);
        drawChevron(painter, subControlRect(CC_ComboBox, option, SC_ComboBoxArrow, widget), true, inkOf(option));
        return;
    }
    if (const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option); control == CC_SpinBox && spin) {
        if (spin->frame) drawBox(painter, option->rect, color(ColorRole::Base), outline(option), kCornerRadius);
        if (spin->buttonSymbols == QAbstractSpinBox::NoButtons) return;
        for (const SubControl part : {SC_SpinBoxUp, SC_SpinBoxDown}) {
            const bool up = part == SC_SpinBoxUp;
            const bool possible =
                spin->stepEnabled.testFlag(up ? QAbstractSpinBox::StepUpEnabled : QAbstractSpinBox::StepDownEnabled);
            const QRect rect = subControlRect(CC_SpinBox, option, part, widget);
            const bool active = option->activeSubControls.testFlag(part) && possible;
            if (active)
                painter->fillRect(rect.adjusted(1, up ? 2 : 0, -2, up ? 0 : -2),
                                  color(has(option, State_Sunken) ? ColorRole::Pressed : ColorRole::Hover));
            drawChevron(painter, rect, !up, possible ? inkOf(option) : color(ColorRole::DisabledText), 2.8);
        }
        return;
    }
    if (const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option);
        control == CC_Slider && slider && slider->orientation == Qt::Horizontal &&
        slider->tickPosition == QSlider::NoTicks) {
        const QRectF groove = subControlRect(CC_Slider, option, SC_SliderGroove, widget);
        const QRectF handle = subControlRect(CC_Slider, option, SC_SliderHandle, widget);
        const QRectF line(groove.left(), groove.center().y() - 2, groove.width(), 4);
        const bool enabled = has(option, State_Enabled);
        drawBox(painter, line, color(ColorRole::Pressed), color(ColorRole::Pressed), 2);
        QRectF done = line;
        done.setRight(handle.center().x());
        const QColor accent = color(enabled ? ColorRole::Accent : ColorRole::StrongBorder);
        if (done.width() > 4) drawBox(painter, done, accent, accent, 2);
        QRectF knob(0, 0, 13, 13);
        knob.moveCenter(handle.center());
        drawBox(painter, knob, color(ColorRole::Raised),
                has(option, State_HasFocus) ? color(ColorRole::FocusRing) : accent, 6.5);
        return;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

/// The arrow of a sorted column is above its head, where it covers neither words nor heads of numbers.
QRect CalmStyle::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const {
    if (element != SE_HeaderArrow) return QProxyStyle::subElementRect(element, option, widget);
    constexpr int kSize = 9;
    return {option->rect.center().x() - kSize / 2, option->rect.top() - 1, kSize, kSize};
}

/// Fusion's button for what a tool bar has no room for is a dot of three pixels.
int CalmStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    return metric == PM_ToolBarExtensionExtent ? kIconSize + kTight : QProxyStyle::pixelMetric(metric, option, widget);
}

QIcon CalmStyle::standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const {
    if (which == SP_ToolBarHorizontalExtensionButton) return icon(QStringLiteral("more"));
    if (which == SP_ToolBarVerticalExtensionButton) return icon(QStringLiteral("next"));
    return QProxyStyle::standardIcon(which, option, widget);
}

int CalmStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                         QStyleHintReturn* returnData) const {
    switch (hint) {
        // A drop-down list under its box, not over it.
        case SH_ComboBox_Popup: return 0;
        // Clicking beside the knob goes there.
        case SH_Slider_AbsoluteSetButtons: return Qt::LeftButton;
        default: return QProxyStyle::styleHint(hint, option, widget, returnData);
    }
}

}  // namespace sonde::theme
