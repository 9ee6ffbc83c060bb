#include "ui/panels/inputs/sound_part.h"

#include <QGridLayout>
#include <QToolButton>

#include <utility>

#include "core/io/inputs/recording.h"
#include "ui/context/count_text.h"
#include "ui/context/input_spec.h"
#include "ui/panels/inputs/sound_player.h"
#include "ui/panels/sound_view.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

namespace {

constexpr std::int64_t kColumns = 600;

bool isSame(const tensor::Value& a, const tensor::Value& b) {
    return a.isTensor() && b.isTensor() && a.tensor().defined() && b.tensor().defined() &&
           a.tensor().storage() == b.tensor().storage();
}

}  // namespace

SoundPart::SoundPart(const QString& inputName, QWidget* parent)
    : InputPart(parent), m_text(new widgets::ElidedLabel), m_view(new SoundView),
      m_play(widgets::makeToolButton(QStringLiteral("run"), tr("Play the recording as the model gets it"), this)),
      m_player(new SoundPlayer(this)) {
    setObjectName(QStringLiteral("sound"));
    m_text->setObjectName(QStringLiteral("soundText"));
    m_view->setAccessibleName(tr("Waveform and spectrogram of input %1").arg(inputName));
    m_play->setObjectName(QStringLiteral("playSound"));
    m_play->setVisible(SoundPlayer::isThere());
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(theme::kTight);
    grid->setColumnStretch(0, 1);
    grid->addWidget(m_text, 0, 0);
    grid->addWidget(m_play, 0, 1);
    grid->addWidget(m_view, 1, 0, 1, 2);
    connect(m_play, &QToolButton::clicked, this, [this] {
        if (m_player->isPlaying()) m_player->stop();
        else if (m_value.isTensor() && m_rate > 0) m_player->play(m_value.tensor(), m_rate);
    });
    connect(m_player, &SoundPlayer::changed, this, [this] {
        const bool isPlaying = m_player->isPlaying();
        m_play->setIcon(theme::icon(isPlaying ? QStringLiteral("stop") : QStringLiteral("run")));
        m_play->setToolTip(isPlaying ? tr("Stop playing") : tr("Play the recording as the model gets it"));
    });
}

void SoundPart::refresh(const context::ModelInput& input) {
    const std::string item = input.spec.source.toStdString();
    if (!io::isRecordingItem(item)) {
        m_job.abandon();
        m_player->stop();
        m_value = {};
        hide();
        return;
    }
    if (!input.value || !input.value->isTensor()) {  // it is being read, or cannot be
        if (input.error) hide();
        return;
    }
    if (isSame(m_value, *input.value)) return;
    m_player->stop();
    m_value = *input.value;
    m_job.start(
        [value = m_value, item](const base::WorkContext& work) {
            const auto rate = io::recordingRate(item);
            return session::soundPicture(value.tensor(), rate ? *rate : 0, kColumns, work.stop);
        },
        [this](base::Result<session::SoundPicture> made) { take(std::move(made)); });
}

void SoundPart::take(base::Result<session::SoundPicture> made) {
    setVisible(made.has_value());
    if (!made) return;
    m_rate = made->rate;
    QStringList parts;
    if (m_rate > 0) parts << tr("%1 s at %2 Hz").arg(made->seconds(), 0, 'f', 2).arg(context::countText(m_rate));
    parts << context::countedText(made->samples, tr("1 sample"), tr("%1 samples"));
    if (made->channels > 1) parts << tr("first of %1 channels").arg(context::countText(made->channels));
    m_text->setText(parts.join(QStringLiteral(" · ")));
    m_play->setVisible(SoundPlayer::isThere() && m_rate > 0);
    m_view->setPicture(std::move(*made));
}

}  // namespace sonde::panels
