#include "ui/dialogs/about_dialog.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

AboutDialog::AboutDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("About Sonde"));
    auto* icon = new QLabel(this);
    icon->setPixmap(theme::applicationIcon().pixmap(64, 64));
    auto* title = new QLabel(tr("Sonde %1").arg(QCoreApplication::applicationVersion()), this);
    title->setFont(theme::Theme::instance().titleFont());
    auto* text = new QLabel(this);
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    text->setMinimumWidth(380);
    text->setText(tr("A desktop debugger for neural networks.\n\n"
                     "Sonde has no network code: nothing is sent or downloaded. It has no telemetry. Model files are "
                     "read, never executed.\n\n"
                     "Apache License 2.0. Built with Qt %1, Graphviz and Eigen; see the README for all libraries.")
                      .arg(QLatin1String(qVersion())));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* words = new QVBoxLayout;
    words->setSpacing(theme::kSmall);
    words->addWidget(title);
    words->addWidget(text);
    auto* row = new QHBoxLayout;
    row->setSpacing(theme::kLarge);
    row->addWidget(icon, 0, Qt::AlignTop);
    row->addLayout(words, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    column->setSpacing(theme::kLarge);
    column->addLayout(row);
    column->addWidget(buttons);
}

}  // namespace sonde::dialogs
