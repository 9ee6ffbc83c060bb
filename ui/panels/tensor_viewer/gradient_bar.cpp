#include "ui/panels/tensor_viewer/gradient_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/context/window_hint.h"
#include "ui/models/short_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::Gradients;

GradientBar::GradientBar(Gradients& gradients, QWidget* parent)
    : QWidget(parent), m_gradients(gradients), m_text(new QLabel(this)),
      m_show(widgets::makeToolButton(QStringLiteral("heat-map"),
                                     tr("Show the gradient in place of the value (Alt+Shift+J)"), this)),
      m_close(widgets::makeToolButton(QStringLiteral("clear"), tr("Forget the saliency"), this)),
      m_progress(new widgets::ProgressStrip(this)) {
    m_text->setObjectName(QStringLiteral("gradientText"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    m_show->setObjectName(QStringLiteral("showGradient"));
    m_show->setCheckable(true);
    m_close->setObjectName(QStringLiteral("closeGradient"));
    auto* row = new QHBoxLayout;
    row->setContentsMargins(theme::kSmall, theme::kTight, theme::kTight, 0);
    row->setSpacing(theme::kTight);
    row->addWidget(m_text, 1);
    row->addWidget(m_show, 0, Qt::AlignTop);
    row->addWidget(m_close, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(row);
    column->addWidget(m_progress);
    connect(m_close, &QToolButton::clicked, &m_gradients, &Gradients::clear);
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_gradients, &Gradients::cancel);
    connect(&m_gradients, &Gradients::changed, this, &GradientBar::refresh);
    connect(&m_gradients, &Gradients::progressed, this, [this](const base::Progress& progress) {
        if (m_progress->isActive())
            m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                    static_cast<qint64>(progress.total));
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &GradientBar::refresh);
    refresh();
}

void GradientBar::setNode(graph::NodeId node) {
    m_node = node;
    refresh();
}

QString GradientBar::text() const { return isHidden() ? QString() : m_text->text(); }

/// "Saliency of y[0] = 3: -1 to 2, largest at [0, 1]".
QString GradientBar::textOf(const Gradients::Gradient& gradient) const {
    const QString of = models::oneLine(m_gradients.text());
    if (!gradient.isReached) return tr("%1 does not depend on this value.").arg(of);
    QString text = tr("Saliency of %1").arg(of);
    if (m_gradients.value()) text += QStringLiteral(" = ") + widgets::numberText(*m_gradients.value(), 6);
    text += tr(": %1 to %2").arg(widgets::numberText(gradient.low, 4), widgets::numberText(gradient.high, 4));
    QStringList index;
    for (const std::int64_t i : gradient.largest) index << QString::number(i);
    return text + tr(", largest at [%1]").arg(index.join(QStringLiteral(", ")));
}

void GradientBar::refresh() {
    setVisible(m_gradients.isAsked());
    // Of the element itself it tells what is wrong with its gradient.
    const base::Error* const wrong = m_node == m_gradients.of().node ? m_gradients.inputError() : nullptr;
    const Gradients::Gradient* const gradient = wrong ? nullptr : m_gradients.by(m_node);
    const base::Error* const error = wrong ? wrong : m_gradients.errorOf(m_node);
    m_show->setEnabled(gradient && gradient->tensor.defined());
    if (!m_gradients.isBusy()) m_progress->finish();
    else if (!m_progress->isActive())
        m_progress->start(tr("Saliency of %1").arg(models::oneLine(m_gradients.text())),
                          widgets::ProgressStrip::kDelayMs, tr("Cancel"));
    QString text = tr("Saliency of %1").arg(models::oneLine(m_gradients.text()));
    if (gradient) text = textOf(*gradient);
    else if (error && error->kind == base::ErrorKind::Cancelled) text += tr(": cancelled. Ask again (Alt+Shift+G).");
    else if (error) {
        text += QStringLiteral(": ") + QString::fromStdString(error->what);
        if (const QString hint = context::windowHint(error->hint); !hint.isEmpty()) text += QStringLiteral(". ") + hint;
    }
    const bool isWrong = !gradient && error && error->kind != base::ErrorKind::Cancelled;
    m_text->setStyleSheet(QStringLiteral("color: %1")
                              .arg(theme::color(isWrong ? theme::ColorRole::Error : theme::ColorRole::Text).name()));
    m_text->setText(text);
}

}  // namespace sonde::panels
