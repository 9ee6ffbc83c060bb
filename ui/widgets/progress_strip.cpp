#include "ui/widgets/progress_strip.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>

#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/tool_button.h"

namespace sonde::widgets {

ProgressStrip::ProgressStrip(QWidget* parent)
    : QWidget(parent), m_label(new ElidedLabel({}, this)), m_bar(new QProgressBar(this)),
      m_cancel(makeToolButton(QStringLiteral("cancel"), tr("Cancel (Shift+Esc)"), this)), m_delay(new QTimer(this)) {
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(160);
    m_bar->setAccessibleName(tr("Progress"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(theme::kSmall, 0, theme::kTight, 0);
    row->setSpacing(theme::kSmall);
    row->addWidget(m_label, 1);
    row->addWidget(m_bar, 0, Qt::AlignVCenter);
    row->addWidget(m_cancel);
    m_delay->setSingleShot(true);
    connect(m_delay, &QTimer::timeout, this, &QWidget::show);
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        m_cancel->setEnabled(false);  // asked once is enough; the work stops at its next node
        Q_EMIT cancelRequested();
    });
    hide();
}

void ProgressStrip::start(const QString& what, int delayMs, const QString& stopTip) {
    m_active = true;
    m_cancel->setToolTip(stopTip.isEmpty() ? tr("Cancel (Shift+Esc)") : stopTip);
    m_cancel->setAccessibleName(m_cancel->toolTip());
    m_cancel->setEnabled(true);
    setProgress(what, 0, 0);
    if (delayMs <= 0) show();
    else if (isHidden()) m_delay->start(delayMs);
}

void ProgressStrip::setProgress(const QString& what, qint64 done, qint64 total) {
    m_label->setText(total > 0 ? tr("%1  %2 of %3").arg(what, countText(done), countText(total)) : what);
    // QProgressBar counts in int; a bar has no more than a thousand places anyway.
    m_bar->setRange(0, total > 0 ? 1000 : 0);
    m_bar->setValue(total > 0 ? static_cast<int>(static_cast<double>(done) / static_cast<double>(total) * 1000.0) : 0);
}

void ProgressStrip::finish() {
    m_active = false;
    m_delay->stop();
    hide();
}

}  // namespace sonde::widgets
