#include "ui/widgets/number_field.h"

#include <QLineEdit>
#include <QRegularExpression>
#include <QWheelEvent>

#include <cmath>

namespace sonde::widgets {

namespace {

/// What a number may begin with while it is typed.
bool isBegun(const QString& text, bool integral) {
    static const QRegularExpression integer(QStringLiteral("^[-+]?\\d*$"));
    static const QRegularExpression real(QStringLiteral("^[-+]?(\\d*\\.?\\d*([eE][-+]?\\d*)?|i|in|inf|n|na|nan)$"));
    return (integral ? integer : real).match(text).hasMatch();
}

bool isWhole(const QString& text, bool integral) {
    bool isNumber = false;
    if (!integral) static_cast<void>(text.toDouble(&isNumber));
    if (integral) static_cast<void>(text.toLongLong(&isNumber));
    if (integral && !isNumber) static_cast<void>(text.toULongLong(&isNumber));
    return isNumber;
}

}  // namespace

NumberField::NumberField(QWidget* parent) : QAbstractSpinBox(parent) {
    setAlignment(Qt::AlignRight);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setNumber(QStringLiteral("0"));
    connect(lineEdit(), &QLineEdit::textEdited, this, [this] {
        if (isWhole(number(), m_integral)) Q_EMIT typed();
    });
}

void NumberField::setIntegral(bool integral) { m_integral = integral; }

QString NumberField::number() const { return lineEdit()->text().trimmed(); }

void NumberField::setNumber(const QString& number) {
    if (number != lineEdit()->text()) lineEdit()->setText(number);
    m_given = number;
}

// QLineEdit's own mark is gone once Return has been pressed.
bool NumberField::isModified() const { return number() != m_given.trimmed(); }

void NumberField::stepBy(int steps) {
    const QString text = number();
    if (m_integral) {
        bool isNumber = false;
        const qint64 value = text.toLongLong(&isNumber);
        qint64 next = 0;
        if (!isNumber || __builtin_add_overflow(value, static_cast<qint64>(steps), &next)) return;
        lineEdit()->setText(QString::number(next));
    } else {
        const double value = text.toDouble();
        if (!std::isfinite(value)) return;
        const double place = value == 0 ? 0.1 : std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1);
        lineEdit()->setText(QString::number(value + steps * place, 'g', 12));
    }
    lineEdit()->selectAll();
    Q_EMIT stepped();
}

QValidator::State NumberField::validate(QString& text, int&) const {
    const QString number = text.trimmed();
    if (!isBegun(number, m_integral)) return QValidator::Invalid;
    return isWhole(number, m_integral) ? QValidator::Acceptable : QValidator::Intermediate;
}

/// A wheel over a form scrolls the form, unless the field is being edited.
void NumberField::wheelEvent(QWheelEvent* event) {
    if (hasFocus()) QAbstractSpinBox::wheelEvent(event);
    else event->ignore();
}

QSize NumberField::sizeHint() const { return sizeFor(QStringLiteral("-0000000000000000000")); }

/// Narrow forms scroll within the number rather than grow with it.
QSize NumberField::minimumSizeHint() const { return sizeFor(QStringLiteral("-00000")); }

QSize NumberField::sizeFor(const QString& text) const {
    const int height = QAbstractSpinBox::sizeHint().height();
    return {fontMetrics().horizontalAdvance(text) + 2 * height, height};
}

}  // namespace sonde::widgets
