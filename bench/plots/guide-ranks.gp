# guide-ranks.gp — a collective over its fastest mock-up by the number of ranks, a line for each size and kind of campaign, as pat-guidelines --report writes it into NAME.csv:
#     gnuplot -c guide-ranks.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('guide-ranks.gp')]
load here.'style.gp'
name = ARG1
csv = name.'.csv'
line = 'line'
place = 'ranks'
axis = 'ranks; a line for each size in bytes'
tic = 'ranks'
margin = 1.1
load here.'guide-ratio.gp'
