# guide-lines.gp — a collective over its fastest mock-up by size, a line for each campaign, as pat-guidelines --report writes it into NAME.csv:
#     gnuplot -c guide-lines.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('guide-lines.gp')]
load here.'style.gp'
name = ARG1
csv = name.'.csv'
line = 'view'
place = 'bytes'
axis = 'bytes'
tic = 'size'
margin = 1.3
load here.'guide-ratio.gp'
